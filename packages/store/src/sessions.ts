import { and, asc, desc, eq, getTableColumns, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { StoreError } from "./errors.ts";
import { encode, encodeOptional } from "./json.ts";
import type { Fence } from "./leases.ts";
import type { MessageChain } from "./messages.ts";
import { activeRun, minuteOf, session } from "./schema/index.ts";
import type { SessionRows } from "./session-rows.ts";
import type { Bodies } from "./types/common.ts";
import type { SessionStore } from "./types/sessions.ts";

const unlimited = Number.MAX_SAFE_INTEGER;
const DEFAULT_LIMIT = 100;

/** A setting after a patch: `undefined` leaves it, `null` removes it. */
function patched(value: string | null | undefined, before: string | null): string | null {
  return value === undefined ? before : value;
}

interface Settings {
  readonly title: string | null;
  readonly model: string | null;
  readonly thinking: string | null;
  readonly queueMode: string | null;
  readonly data: string | null;
}

export function createSessionStore<T extends Bodies>(
  { database, queue, now }: Context,
  fence: Fence,
  rows: SessionRows,
  chain: MessageChain<T>,
): SessionStore<T> {
  const { db } = database;
  const setSettings = database.command((p: Bound<Settings & { key: string }>) =>
    db
      .update(session)
      .set({ title: p.title, model: p.model, thinking: p.thinking, queueMode: p.queueMode, data: p.data })
      .where(eq(session.key, p.key)),
  );
  const setSummary = database.command((p: Bound<{ key: string; floorSeq: number; summaryEntry: number }>) =>
    db
      .update(session)
      .set({ floorSeq: p.floorSeq, summaryEntry: p.summaryEntry })
      .where(eq(session.key, p.key)),
  );
  const nextGeneration = database.command((p: Bound<{ key: string; at: number }>) =>
    db
      .update(session)
      .set({
        generation: sql`${session.generation} + 1`,
        floorSeq: sql`${session.lastSeq}`,
        summaryEntry: null,
        messageCount: 0,
        resetAt: p.at,
      })
      .where(eq(session.key, p.key)),
  );
  const remove = database.command((p: Bound<{ key: string }>) =>
    db.delete(session).where(eq(session.key, p.key)),
  );

  return {
    get: (key) =>
      queue.read(() => {
        const state = rows.load(key);
        return state === undefined ? undefined : rows.toSession(state);
      }),

    ensure: (seed) =>
      queue.write(() => {
        const state = rows.load(seed.key) ?? { record: rows.create(seed, now()), active: undefined };
        return rows.toSession(state);
      }),

    async patch(key, patch) {
      const data = patch.data === undefined ? undefined : encodeOptional(patch.data, "The data of a session");
      return queue.write(() => {
        const { record } = rows.mustLoad(key);
        setSettings.run({
          key,
          title: patched(patch.title, record.title),
          model: patched(patch.model, record.model),
          thinking: patched(patch.thinking, record.thinking),
          queueMode: patched(patch.queueMode, record.queueMode),
          data: patched(data, record.data),
        });
        rows.touch(record, now());
        return rows.toSession(rows.mustLoad(key));
      });
    },

    history: (key, options) =>
      queue.read(() => {
        const state = rows.load(key);
        if (state === undefined) return [];
        const limit = options?.limit ?? unlimited;
        const { floorSeq, summaryEntry } = state.record;
        const messages = chain.after(rows.head(state), key, floorSeq, limit);
        const summary =
          summaryEntry === null || messages.length >= limit ? undefined : chain.one(summaryEntry, key);
        return summary === undefined ? messages : [summary, ...messages];
      }),

    transcript: (key, options) =>
      queue.read(() => {
        const state = rows.load(key);
        return state === undefined
          ? []
          : chain.back(rows.head(state), key, options?.before ?? unlimited, options?.limit ?? unlimited);
      }),

    async append(key, messages, lease) {
      const bodies = messages.map((message) => encode(message, "A message"));
      return queue.write(() => {
        fence.check(lease);
        const state = rows.mustLoad(key);
        rows.requireFree(state, lease);
        const to = {
          sessionKey: key,
          generation: state.record.generation,
          run: state.active?.run ?? null,
          at: now(),
        };
        rows.saveHead(state, chain.append(rows.head(state), to, bodies));
        rows.touch(state.record, now());
        return rows.toSession(rows.mustLoad(key));
      });
    },

    async compact(key, { summary, upTo, lease }) {
      const body = encode(summary, "A summary");
      return queue.write(() => {
        fence.check(lease);
        const state = rows.mustLoad(key);
        rows.requireFree(state, lease);
        const head = rows.head(state);
        const left = chain.countAfter(head, key, state.record.floorSeq, upTo);
        if (left === undefined) {
          const text = `Message ${upTo} is not in the present history of session "${key}".`;
          throw new StoreError("conflict", text);
        }
        const to = {
          sessionKey: key,
          generation: state.record.generation,
          run: state.active?.run ?? null,
          at: now(),
        };
        const after = chain.appendSummary(head, to, body);
        rows.saveHead(state, { ...after, messageCount: left + 1 });
        setSummary.run({ key, floorSeq: upTo, summaryEntry: after.lastEntry });
        rows.touch(state.record, now());
        return rows.toSession(rows.mustLoad(key));
      });
    },

    reset: (key, lease) =>
      queue.write(() => {
        fence.check(lease);
        const state = rows.mustLoad(key);
        rows.requireFree(state);
        nextGeneration.run({ key, at: now() });
        rows.touch(state.record, now());
        return rows.toSession(rows.mustLoad(key));
      }),

    remove: (key, lease) =>
      queue.write(() => {
        fence.check(lease);
        const state = rows.load(key);
        if (state === undefined) return false;
        rows.requireFree(state);
        chain.remove(state.record, key);
        remove.run({ key });
        return true;
      }),

    list: ({ keys, agentId, channel, peer, before, limit } = {}) =>
      queue.read(() =>
        db
          .select({ record: getTableColumns(session), active: getTableColumns(activeRun) })
          .from(session)
          .leftJoin(activeRun, eq(activeRun.sessionKey, session.key))
          .where(
            and(
              lte(session.updatedMinute, before === undefined ? unlimited : minuteOf(before)),
              lt(session.updatedAt, before ?? unlimited),
              keys === undefined ? undefined : inArray(session.key, valuesOf(keys)),
              agentId === undefined ? undefined : eq(session.agentId, agentId),
              channel === undefined ? undefined : eq(session.channel, channel),
              peer === undefined ? undefined : eq(session.peer, peer),
            ),
          )
          .orderBy(desc(session.updatedMinute), desc(session.updatedAt), asc(session.key))
          .limit(limit ?? DEFAULT_LIMIT)
          .all()
          .map(({ record, active }) => rows.toSession({ record, active: active ?? undefined })),
      ),
  };
}

/** However many there are: a statement takes no more than some thousands as values of its own. */
function valuesOf(keys: readonly string[]): SQL {
  return sql`(SELECT value FROM json_each(${JSON.stringify(keys)}))`;
}
