import type { JsonValue } from "@signalbox/agent-core";
import { z } from "zod";
import { type TaintSource, taintSourceSchema } from "../types.ts";

/** What the history of a session holds in addition to the words of its owners. */
interface Seen {
  /** What tainted earlier runs: untrusted content stays in the history, so later runs are tainted as well. */
  readonly sources: readonly TaintSource[];
  /** Who else than owners has spoken in it. */
  readonly speakers: readonly string[];
}

/** The taint of a session, over its runs. */
export interface SessionTaint {
  /** What earlier runs have seen. */
  readonly earlier: Seen;
  /** Remembers what a run has seen, and who spoke in it. */
  keep(seen: Seen): Promise<void>;
}

/** A session as its host has it. */
export interface TaintedSession {
  readonly key: string;
  readonly generation: number;
  /** What is kept with it. */
  readonly data?: unknown;
}

/** Keeps with a session what belongs to it. */
export interface SessionData {
  patch(sessionKey: string, change: { readonly data: JsonValue }): Promise<unknown>;
}

const NOTHING: Seen = { sources: [], speakers: [] };

/**
 * A new generation starts without taint. It is kept with the session, as all its host keeps there: it lasts as long as
 * the history does, and goes with it.
 */
export function createSessionTaint(
  sessions: SessionData,
  { key, generation, data }: TaintedSession,
): SessionTaint {
  const taint = taintIn(data);
  const { sources, speakers } = taint !== undefined && taint.generation >= generation ? taint : NOTHING;
  const earlier: Seen = { sources, speakers };
  let kept = earlier;
  return {
    earlier,
    async keep(seen) {
      const sources = [...new Set([...kept.sources, ...seen.sources])];
      const speakers = [...new Set([...kept.speakers, ...seen.speakers])];
      if (sources.length === kept.sources.length && speakers.length === kept.speakers.length) return;
      const before = kept;
      kept = { sources, speakers };
      try {
        await sessions.patch(key, { data: { taint: { generation, sources, speakers } } });
      } catch (error) {
        // The next time it is written again.
        kept = before;
        throw error;
      }
    },
  };
}

const sourcesSchema = z
  .array(z.unknown())
  .transform((listed) => [
    ...new Set(listed.map((source) => taintSourceSchema.safeParse(source).data ?? "other")),
  ]);
const dataSchema = z.object({
  taint: z
    .object({ generation: z.number(), sources: sourcesSchema, speakers: z.array(z.string()) })
    .optional(),
});

interface KeptTaint extends Seen {
  /** Of the session, which begins anew without taint. */
  readonly generation: number;
}

/** Nobody knows whose words it was about, nor of which generation. */
const UNREADABLE: KeptTaint = {
  generation: Number.MAX_SAFE_INTEGER,
  sources: ["other"],
  speakers: ["unknown"],
};

/** What is kept with a session. */
export function taintIn(data: unknown): KeptTaint | undefined {
  if (data === undefined) return undefined;
  const read = dataSchema.safeParse(data);
  return read.success ? read.data.taint : UNREADABLE;
}
