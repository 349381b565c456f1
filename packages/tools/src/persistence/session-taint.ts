import type { JsonValue } from "@signalbox/agent-core";
import { z } from "zod";
import { type TaintSource, taintSourceSchema } from "../types.ts";

/** Untrusted content and speakers in a session's history. */
interface TaintHistory {
  /** Sources that tainted earlier runs. Untrusted content stays in the history, so it also taints later runs. */
  readonly sources: readonly TaintSource[];
  /** Speakers who are not owners. */
  readonly speakers: readonly string[];
}

/** A session's taint across its runs. */
export interface SessionTaint {
  /** The taint from earlier runs. */
  readonly earlier: TaintHistory;
  /** Adds the taint and the speakers of a run. */
  add(seen: TaintHistory): Promise<void>;
}

/** A session as its host stores it. */
export interface TaintedSession {
  readonly key: string;
  readonly generation: number;
  /** Data that the host stores with the session. */
  readonly data?: unknown;
}

/** Stores data with sessions. */
export interface SessionData {
  patch(sessionKey: string, change: { readonly data: JsonValue }): Promise<unknown>;
}

const NOTHING: TaintHistory = { sources: [], speakers: [] };

/**
 * Creates a session's taint. A new generation starts without taint. The taint is stored with the session, so it lives
 * as long as the history.
 */
export function createSessionTaint(
  sessions: SessionData,
  { key, generation, data }: TaintedSession,
): SessionTaint {
  const taint = readSessionTaint(data);
  const { sources, speakers } = taint !== undefined && taint.generation >= generation ? taint : NOTHING;
  const earlier: TaintHistory = { sources, speakers };
  let current = earlier;
  return {
    earlier,
    async add(seen) {
      const sources = [...new Set([...current.sources, ...seen.sources])];
      const speakers = [...new Set([...current.speakers, ...seen.speakers])];
      if (sources.length === current.sources.length && speakers.length === current.speakers.length) return;
      const before = current;
      current = { sources, speakers };
      try {
        await sessions.patch(key, { data: { taint: { generation, sources, speakers } } });
      } catch (error) {
        // Retry on the next call.
        current = before;
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

interface StoredTaint extends TaintHistory {
  /** The session's generation. A new generation starts without taint. */
  readonly generation: number;
}

/** Replaces unreadable data, whose sources and generation are unknown. */
const UNREADABLE: StoredTaint = {
  generation: Number.MAX_SAFE_INTEGER,
  sources: ["other"],
  speakers: ["unknown"],
};

/** Reads the taint from a session's data. */
export function readSessionTaint(data: unknown): StoredTaint | undefined {
  if (data === undefined) return undefined;
  const read = dataSchema.safeParse(data);
  return read.success ? read.data.taint : UNREADABLE;
}
