import { eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { StoreError } from "./errors.ts";
import { encode } from "./json.ts";
import type { Fence } from "./leases.ts";
import type { MessageChain, Place } from "./messages.ts";
import { session } from "./schema/index.ts";
import type { SessionRows, SessionState } from "./session-rows.ts";
import type { Bodies, LeaseToken } from "./types/common.ts";
import type { SessionStore } from "./types/sessions.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: SessionRows;
  readonly chain: MessageChain<T>;
}

const unlimited = Number.MAX_SAFE_INTEGER;

/** Creates the methods that read session messages and add messages outside a run. */
export function createSessionMessages<T extends Bodies>(
  context: Context,
  parts: Parts<T>,
): Pick<SessionStore<T>, "history" | "transcript" | "append" | "compact"> {
  return { ...createReads(context, parts), ...createAdditions(context, parts) };
}

function createReads<T extends Bodies>(
  { queue }: Context,
  { rows, chain }: Parts<T>,
): Pick<SessionStore<T>, "history" | "transcript"> {
  return {
    history: (key, { limit = unlimited } = {}) =>
      queue.read(() => {
        const state = rows.load(key);
        if (state === undefined) return [];
        const { floorSeq, summaryEntry } = state.record;
        const messages = chain.after(rows.head(state), key, floorSeq, limit);
        const summary =
          summaryEntry === null || messages.length >= limit ? undefined : chain.one(summaryEntry, key);
        return summary === undefined ? messages : [summary, ...messages];
      }),

    transcript: (key, { after = 0, before = unlimited, limit = unlimited } = {}) =>
      queue.read(() => {
        const state = rows.load(key);
        return state === undefined ? [] : chain.back(rows.head(state), key, { after, before, limit });
      }),
  };
}

function createAdditions<T extends Bodies>(
  { database, queue, now }: Context,
  { fence, rows, chain }: Parts<T>,
): Pick<SessionStore<T>, "append" | "compact"> {
  const setSummary = database.command((p: Bound<{ key: string; floorSeq: number; summaryEntry: number }>) =>
    database.db
      .update(session)
      .set({ floorSeq: p("floorSeq"), summaryEntry: p("summaryEntry") })
      .where(eq(session.key, p("key"))),
  );

  function loadFree(key: string, lease: LeaseToken): SessionState {
    fence.check(lease);
    const state = rows.mustLoad(key);
    rows.requireFree(state, lease);
    return state;
  }

  const endOf = ({ record, active }: SessionState): Place => ({
    sessionKey: record.key,
    generation: record.generation,
    run: active?.run ?? null,
    at: now(),
  });

  return {
    async append(key, messages, lease) {
      const bodies = messages.map((message) => encode(message, "A message"));
      return queue.write(() => {
        const state = loadFree(key, lease);
        rows.saveHead(state, chain.append(rows.head(state), endOf(state), bodies));
        rows.touch(state.record, now());
        return rows.toSession(rows.mustLoad(key));
      });
    },

    async compact(key, { summary, upTo, lease }) {
      const body = encode(summary, "A summary");
      return queue.write(() => {
        const state = loadFree(key, lease);
        const head = rows.head(state);
        const left = chain.countAfter(head, key, state.record.floorSeq, upTo);
        if (left === undefined) {
          const text = `Message ${upTo} is not in the present history of session "${key}".`;
          throw new StoreError("conflict", text);
        }
        const after = chain.appendSummary(head, endOf(state), body);
        rows.saveHead(state, { ...after, messageCount: left + 1 });
        setSummary.run({ key, floorSeq: upTo, summaryEntry: after.lastEntry });
        rows.touch(state.record, now());
        return rows.toSession(rows.mustLoad(key));
      });
    },
  };
}
