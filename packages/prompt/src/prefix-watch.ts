import type { JsonValue, ToolSpec } from "@signalbox/agent-core";
import {
  createPrefix,
  findDrift,
  type PrefixDrift,
  type PromptPrefix,
  type SectionHashes,
} from "./prefix.ts";
import type { PromptSection } from "./types.ts";

/** The prefix of a run and its difference from the prefix of the previous run in the session. */
export interface PrefixReport extends Pick<PromptPrefix, "digest" | "tools"> {
  readonly drift: PrefixDrift | undefined;
}

/** Detects changes to the prompt prefix that invalidate a vendor's cache. */
export interface PrefixWatch {
  check(
    sessionKey: string,
    sections: readonly PromptSection[],
    tools: readonly ToolSpec[],
  ): Promise<PrefixReport>;
}

/** Storage for digests. */
export interface PrefixStore {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  set(namespace: string, key: string, value: JsonValue, ttlMs: number): Promise<void>;
}

export interface PrefixWatchOptions {
  readonly store: PrefixStore;
  /** Called if a digest could not be stored. */
  readonly onProblem: (error: unknown) => void;
  readonly now: () => number;
}

const PREFIXES = "prompt-prefix";
const SESSIONS = "prompt-session";
/** Read by `signalbox doctor`. */
const DRIFTS = "prompt-drift";
const DAY_MS = 86_400_000;
const TTL_MS = 30 * DAY_MS;
const DRIFT_TTL_MS = 7 * DAY_MS;

/** Writes are not awaited, because a digest lost in a crash is stored again in the next turn. */
export function createPrefixWatch({ store, onProblem, now }: PrefixWatchOptions): PrefixWatch {
  const write = (...entry: Parameters<PrefixStore["set"]>): void => void store.set(...entry).catch(onProblem);
  return {
    async check(sessionKey, sections, toolSpecs) {
      const prefix = createPrefix(sections, toolSpecs);
      const { digest, tools } = prefix;
      const last = await store.get(SESSIONS, sessionKey);
      if (last === digest) return { digest, tools, drift: undefined };
      const known = readHashes(await store.get(PREFIXES, digest));
      const hashes = known ?? prefix.hashes();
      if (known === undefined) {
        const rows = hashes.map(({ name, bytes, blocks }) => [name, bytes, blocks]);
        write(PREFIXES, digest, rows, TTL_MS);
      }
      write(SESSIONS, sessionKey, digest, TTL_MS);
      const before = typeof last === "string" ? readHashes(await store.get(PREFIXES, last)) : undefined;
      const drift = before && findDrift(before, hashes);
      if (drift !== undefined) write(DRIFTS, sessionKey, { ...drift, at: now() }, DRIFT_TTL_MS);
      return { digest, tools, drift };
    },
  };
}

function readHashes(stored: JsonValue | undefined): readonly SectionHashes[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  const rows: readonly unknown[] = stored;
  return rows.flatMap((row) => {
    if (!Array.isArray(row)) return [];
    const [name, bytes, blocks]: readonly unknown[] = row;
    return typeof name === "string" && typeof bytes === "number" && typeof blocks === "string"
      ? [{ name, bytes, blocks }]
      : [];
  });
}
