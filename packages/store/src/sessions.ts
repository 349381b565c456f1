import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  lt,
  lte,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { encodeOptional } from "./json.ts";
import type { Fence } from "./leases.ts";
import type { MessageChain } from "./messages.ts";
import { activeRun, minuteOf, session } from "./schema/index.ts";
import { createSessionMessages } from "./session-messages.ts";
import type { SessionRows } from "./session-rows.ts";
import type { Bodies } from "./types/common.ts";
import type { Session, SessionPosition, SessionStore } from "./types/sessions.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: SessionRows;
  readonly chain: MessageChain<T>;
}

const DEFAULT_LIMIT = 100;

/** Applies a patch to a setting: `undefined` keeps it, `null` removes it. */
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

export function createSessionStore<T extends Bodies>(context: Context, parts: Parts<T>): SessionStore<T> {
  const { database, queue, now } = context;
  const { rows } = parts;
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

    patch: createPatch(context, rows),
    ...createSessionMessages(context, parts),
    ...createEnds(context, parts),
    list: (filter) => queue.read(() => list(database, rows, filter ?? {})),
  };
}

function createPatch({ database, queue, now }: Context, rows: SessionRows): SessionStore["patch"] {
  const setSettings = database.command((p: Bound<Settings & { key: string }>) =>
    database.db
      .update(session)
      .set({
        title: p("title"),
        model: p("model"),
        thinking: p("thinking"),
        queueMode: p("queueMode"),
        data: p("data"),
      })
      .where(eq(session.key, p("key"))),
  );

  return async (key, patch) => {
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
  };
}

/** Creates the methods that reset and remove sessions. */
function createEnds<T extends Bodies>(
  { database, queue, now }: Context,
  { fence, rows, chain }: Parts<T>,
): Pick<SessionStore<T>, "reset" | "remove"> {
  const { db } = database;
  const nextGeneration = database.command((p: Bound<{ key: string; at: number }>) =>
    db
      .update(session)
      .set({
        generation: sql`${session.generation} + 1`,
        floorSeq: sql`${session.lastSeq}`,
        summaryEntry: null,
        messageCount: 0,
        resetAt: p("at"),
      })
      .where(eq(session.key, p("key"))),
  );
  const remove = database.command((p: Bound<{ key: string }>) =>
    db.delete(session).where(eq(session.key, p("key"))),
  );

  return {
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
  };
}

type Filter = NonNullable<Parameters<SessionStore["list"]>[0]>;

function list(
  { db }: Database,
  rows: SessionRows,
  { keys, agentId, channel, peer, behind, since = 0, limit = DEFAULT_LIMIT }: Filter,
): readonly Session[] {
  return db
    .select({ record: getTableColumns(session), active: getTableColumns(activeRun) })
    .from(session)
    .leftJoin(activeRun, eq(activeRun.sessionKey, session.key))
    .where(
      and(
        behind && isBehind(behind),
        gte(session.updatedMinute, minuteOf(since)),
        gte(session.updatedAt, since),
        keys === undefined ? undefined : inArray(session.key, valuesOf(keys)),
        agentId === undefined ? undefined : eq(session.agentId, agentId),
        channel === undefined ? undefined : eq(session.channel, channel),
        peer === undefined ? undefined : eq(session.peer, peer),
      ),
    )
    .orderBy(desc(session.updatedMinute), desc(session.updatedAt), asc(session.key))
    .limit(limit)
    .all()
    .map(({ record, active }) => rows.toSession({ record, active: active ?? undefined }));
}

function isBehind({ key, updatedAt }: SessionPosition): SQL | undefined {
  return and(
    lte(session.updatedMinute, minuteOf(updatedAt)),
    or(lt(session.updatedAt, updatedAt), and(eq(session.updatedAt, updatedAt), gt(session.key, key))),
  );
}

/** Binds a list as one JSON value, because the number of parameters of a statement is limited. */
function valuesOf(keys: readonly string[]): SQL {
  return sql`(SELECT value FROM json_each(${JSON.stringify(keys)}))`;
}
