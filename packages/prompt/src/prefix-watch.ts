import type { JsonValue, ToolSpec } from "@signalbox/agent-core";
import { driftBetween, type PrefixDrift, type PromptPrefix, prefixOf, type SectionHashes } from "./prefix.ts";
import type { PromptSection } from "./types.ts";

/** What a run's prefix is, and where it departs from that of the run before it in the session. */
export interface PrefixLook extends Pick<PromptPrefix, "digest" | "tools"> {
  readonly drift: PrefixDrift | undefined;
}

/** Compares what vendors may have in their caches with what they were sent last. */
export interface PrefixWatch {
  look(
    sessionKey: string,
    sections: readonly PromptSection[],
    tools: readonly ToolSpec[],
  ): Promise<PrefixLook>;
}

/** Where digests are kept, each for so many milliseconds. */
export interface PrefixNotes {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  set(namespace: string, key: string, value: JsonValue, ttlMs: number): Promise<void>;
}

export interface PrefixWatchPorts {
  readonly notes: PrefixNotes;
  /** Told that a note was not kept. */
  readonly onProblem: (error: unknown) => void;
  readonly now: () => number;
}

const PREFIXES = "prompt-prefix";
const SESSIONS = "prompt-session";
/** Read by `signalbox doctor`. */
const DRIFTS = "prompt-drift";
const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
const DRIFT_KEPT_MS = 7 * DAY_MS;

/** Nobody waits for what it writes: a note that a crash takes is made at the next turn. */
export function createPrefixWatch({ notes, onProblem, now }: PrefixWatchPorts): PrefixWatch {
  const keep = (...note: Parameters<PrefixNotes["set"]>): void => void notes.set(...note).catch(onProblem);
  return {
    async look(sessionKey, sections, ofRun) {
      const prefix = prefixOf(sections, ofRun);
      const { digest, tools } = prefix;
      const last = await notes.get(SESSIONS, sessionKey);
      if (last === digest) return { digest, tools, drift: undefined };
      const known = readHashes(await notes.get(PREFIXES, digest));
      const hashes = known ?? prefix.hashes();
      if (known === undefined) {
        const rows = hashes.map(({ name, bytes, blocks }) => [name, bytes, blocks]);
        keep(PREFIXES, digest, rows, KEPT_MS);
      }
      keep(SESSIONS, sessionKey, digest, KEPT_MS);
      const before = typeof last === "string" ? readHashes(await notes.get(PREFIXES, last)) : undefined;
      const drift = before && driftBetween(before, hashes);
      if (drift !== undefined) keep(DRIFTS, sessionKey, { ...drift, at: now() }, DRIFT_KEPT_MS);
      return { digest, tools, drift };
    },
  };
}

function readHashes(kept: JsonValue | undefined): readonly SectionHashes[] | undefined {
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
