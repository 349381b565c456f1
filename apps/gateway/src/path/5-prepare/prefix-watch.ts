import { toolSpec } from "@signalbox/agent-core";
import {
  type BuiltPrompt,
  driftBetween,
  type PrefixDrift,
  type PromptPrefix,
  prefixOf,
  type SectionHashes,
} from "@signalbox/prompt";
import type { Logger } from "@signalbox/telemetry/logger";
import { messageOf } from "../../errors.ts";
import type { GatewayStore } from "../../store.ts";
import type { RunTools } from "../../tools/toolbox.ts";

/** What a run's prefix is, and where it departs from that of the run before it in the session. */
export interface PrefixLook extends Pick<PromptPrefix, "digest" | "tools"> {
  readonly drift: PrefixDrift | undefined;
}

/** Compares what vendors may have in their caches with what they were sent last. */
export interface PrefixWatch {
  look(sessionKey: string, prompt: BuiltPrompt, tools: RunTools["tools"]): Promise<PrefixLook>;
}

const PREFIXES = "prompt-prefix";
const SESSIONS = "prompt-session";
/** Read by `signalbox doctor`. */
const DRIFTS = "prompt-drift";
const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
const DRIFT_KEPT_MS = 7 * DAY_MS;

/** Nobody waits for what it writes: a note that a crash takes is made at the next turn. */
export function createPrefixWatch(
  { kv }: Pick<GatewayStore, "kv">,
  logger: Pick<Logger, "debug">,
  now: () => number,
): PrefixWatch {
  const keep = (...row: Parameters<GatewayStore["kv"]["set"]>): void =>
    void kv
      .set(...row)
      .catch((error: unknown) => logger.debug({ err: messageOf(error) }, "a prompt's digest was not kept"));
  return {
    async look(sessionKey, { sections }, ofRun) {
      const prefix = prefixOf(sections, ofRun.map(toolSpec));
      const { digest, tools } = prefix;
      const last = await kv.get(SESSIONS, sessionKey);
      if (last === digest) return { digest, tools, drift: undefined };
      const hashes = prefix.hashes();
      const rows = hashes.map(({ name, bytes, blocks }) => [name, bytes, blocks]);
      if ((await kv.get(PREFIXES, digest)) === undefined) keep(PREFIXES, digest, rows, KEPT_MS);
      keep(SESSIONS, sessionKey, digest, KEPT_MS);
      const before = typeof last === "string" ? readHashes(await kv.get(PREFIXES, last)) : undefined;
      const drift = before && driftBetween(before, hashes);
      if (drift !== undefined) keep(DRIFTS, sessionKey, { ...drift, at: now() }, DRIFT_KEPT_MS);
      return { digest, tools, drift };
    },
  };
}

type Json = Awaited<ReturnType<GatewayStore["kv"]["get"]>>;

function readHashes(kept: Json): readonly SectionHashes[] | undefined {
  if (!Array.isArray(kept)) return undefined;
  const rows: readonly unknown[] = kept;
  return rows.flatMap((row) => {
    if (!Array.isArray(row)) return [];
    const [name, bytes, blocks]: readonly unknown[] = row;
    return typeof name === "string" && typeof bytes === "number" && typeof blocks === "string"
      ? [{ name, bytes, blocks }]
      : [];
  });
}
