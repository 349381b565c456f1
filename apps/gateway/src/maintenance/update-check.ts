import type { KvStore } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import { parseJson, readResponse } from "../configure/read-response.ts";

/** URL at which npm publishes the newest version of the gateway. */
const LATEST = "https://registry.npmjs.org/@signalbox%2fgateway/latest";
const DAY_MS = 24 * 3_600_000;
/** Interval of the check whether a day has passed, in milliseconds. */
const CHECK_MS = 3_600_000;
const TIMEOUT_MS = 10_000;
/** Maximum size of a manifest, in bytes. */
const MAX_MANIFEST_BYTES = 1_000_000;
/** The version of a checkout, which is updated with Git. */
const UNRELEASED = "0.0.0";

export interface UpdateCheckOptions {
  /** The running version. */
  readonly version: string;
  /** Returns false while the check is switched off, or while another gateway of the store does it. */
  readonly isEnabled: () => boolean;
  /** Stores the time and the result of the last check. */
  readonly kv: Pick<KvStore, "get" | "set">;
  readonly logger: Pick<Logger, "debug" | "info">;
  readonly now: () => number;
  /** Default: the global `fetch` */
  readonly fetch?: typeof globalThis.fetch;
}

/** Looks for a newer version. */
export interface UpdateCheck {
  start(): void;
  /** Asks the npm registry if the last request is at least a day ago. Never rejects. */
  check(): Promise<void>;
  /** Returns the newest version if it is newer than the running one. */
  newer(): string | undefined;
  stop(): void;
}

/**
 * Creates a check that asks the npm registry for the newest version, at most once a day. The request contains neither
 * the running version nor anything else about the installation.
 */
export function createUpdateCheck(options: UpdateCheckOptions): UpdateCheck {
  const { version, isEnabled, kv, logger, now, fetch = globalThis.fetch } = options;
  let timer: NodeJS.Timeout | undefined;
  let latest: string | undefined;

  async function check(): Promise<void> {
    if (version === UNRELEASED || !isEnabled()) return;
    try {
      const last = parseNote(await kv.get("updates", "npm"));
      latest = last.latest;
      if (now() - last.at < DAY_MS && last.at <= now()) return;
      // Before the request, so that a failure is not repeated within the day.
      await kv.set("updates", "npm", { at: now(), ...(latest === undefined ? {} : { latest }) });
      const response = await fetch(LATEST, {
        headers: { accept: "application/json", "user-agent": "signalbox" },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        redirect: "error",
      });
      const found = parseVersion(parseJson(await readResponse(response, MAX_MANIFEST_BYTES)));
      if (!response.ok || found === undefined) return;
      latest = found;
      await kv.set("updates", "npm", { at: now(), latest });
      if (isNewer(found, version)) logger.info({ version, latest }, "a newer version is available");
    } catch (error) {
      logger.debug({ err: String(error) }, "the npm registry could not be asked for a newer version");
    }
  }

  return {
    start() {
      void check();
      timer = setInterval(() => void check(), CHECK_MS).unref();
    },
    check,
    newer: () => (latest !== undefined && isEnabled() && isNewer(latest, version) ? latest : undefined),
    stop: () => clearInterval(timer),
  };
}

function parseNote(note: unknown): { readonly at: number; readonly latest?: string | undefined } {
  if (typeof note !== "object" || note === null) return { at: Number.NEGATIVE_INFINITY };
  const { at, latest } = { at: undefined, latest: undefined, ...note };
  return {
    at: typeof at === "number" ? at : Number.NEGATIVE_INFINITY,
    latest: typeof latest === "string" ? latest : undefined,
  };
}

/** Returns the version of a manifest. Anything but three numbers is ignored, as it is shown to people. */
function parseVersion(manifest: unknown): string | undefined {
  const version: unknown =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  return typeof version === "string" && /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(version) ? version : undefined;
}

function isNewer(a: string, b: string): boolean {
  const parse = (text: string): number[] => text.split(/[.-]/).slice(0, 3).map(Number);
  const [left, right] = [parse(a), parse(b)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0);
}
