import { encode } from "@signalbox/store/backend";
import { StoreError } from "@signalbox/store/errors";
import type { Bodies, LeaseToken, SessionStore } from "@signalbox/store/types";
import { and, count, eq, gt, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Fence } from "./leases.ts";
import {
  appendMessages,
  appendSummary,
  type Place,
  readHistory,
  readMessage,
  readMessages,
} from "./messages.ts";
import { message } from "./schema/index.ts";
import {
  activityAt,
  loadSession,
  mustLockSession,
  requireFree,
  type SessionState,
  toSession,
  updateSession,
} from "./session-rows.ts";
import type { Transaction } from "./transaction.ts";

const unlimited = Number.MAX_SAFE_INTEGER;

/** Creates the methods that read session messages and add messages outside a run. */
export function createSessionMessages<T extends Bodies>(
  context: Context,
  fence: Fence,
): Pick<SessionStore<T>, "history" | "transcript" | "append" | "compact"> {
  return { ...createReads<T>(context), ...createAdditions<T>(context, fence) };
}

function createReads<T extends Bodies>({
  database,
}: Context): Pick<SessionStore<T>, "history" | "transcript"> {
  return {
    history: (key, { limit = unlimited } = {}) =>
      database.read(async (tx) => {
        const state = await loadSession(tx, key);
        if (state === undefined) return [];
        const { floorSeq, summarySeq } = state.record;
        const [messages, summary] = await Promise.all([
          readHistory<T>(tx, key, floorSeq, limit),
          summarySeq === null ? undefined : readMessage<T>(tx, key, summarySeq),
        ]);
        return summary === undefined || messages.length >= limit ? messages : [summary, ...messages];
      }),

    transcript: (key, { after = 0, before = unlimited, limit = unlimited } = {}) =>
      database.read((tx) => readMessages<T>(tx, key, { after, before, limit })),
  };
}

function createAdditions<T extends Bodies>(
  { database }: Context,
  fence: Fence,
): Pick<SessionStore<T>, "append" | "compact"> {
  async function lockFree(tx: Transaction, key: string, lease: LeaseToken): Promise<SessionState> {
    const [, state] = await Promise.all([fence.check(tx, lease), mustLockSession(tx, key)]);
    requireFree(state, lease);
    return state;
  }

  const endOf = ({ record, holding }: SessionState, at: number): Place => ({
    sessionKey: record.key,
    generation: record.generation,
    run: holding?.n ?? null,
    at,
  });

  return {
    async append(key, messages, lease) {
      const bodies = messages.map((one) => encode(one, "A message"));
      return database.write(async (tx) => {
        const [state, at] = await Promise.all([lockFree(tx, key, lease), tx.now]);
        const head = appendMessages(tx, state.record, endOf(state, at), bodies);
        return toSession(updateSession(tx, state, { ...head, ...activityAt(at) }));
      }, `session ${key}`);
    },

    async compact(key, { summary, upTo, lease }) {
      const body = encode(summary, "A summary");
      return database.write(async (tx) => {
        const [state, left, at] = await Promise.all([
          lockFree(tx, key, lease),
          countAfter(tx, key, upTo),
          tx.now,
        ]);
        if (left === undefined || upTo <= state.record.floorSeq) {
          const text = `Message ${upTo} is not in the present history of session "${key}".`;
          throw new StoreError("conflict", text);
        }
        const summarySeq = appendSummary(tx, state.record, endOf(state, at), body);
        const head = { lastSeq: summarySeq, messageCount: left + 1, floorSeq: upTo, summarySeq };
        return toSession(updateSession(tx, state, { ...head, ...activityAt(at) }));
      }, `session ${key}`);
    },
  };
}

/** Returns the number of messages after `seq`, or undefined if `seq` is not a message of the session. */
async function countAfter({ db }: Transaction, key: string, seq: number): Promise<number | undefined> {
  const isMessage = and(eq(message.sessionKey, key), eq(message.kind, "message"));
  const [row] = await db
    .select({
      after: count(sql`CASE WHEN ${gt(message.seq, seq)} THEN 1 END`),
      isFound: sql<boolean | null>`bool_or(${eq(message.seq, seq)})`,
    })
    .from(message)
    .where(isMessage);
  return row?.isFound === true ? row.after : undefined;
}
