import { encodeOptional } from "@signalbox/store/backend";
import { StoreError } from "@signalbox/store/errors";
import type { Bodies, Session, SessionPosition, SessionStore } from "@signalbox/store/types";
import { and, asc, desc, eq, getTableColumns, gt, gte, inArray, lt, lte, or, type SQL } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Database } from "./database.ts";
import type { Fence } from "./leases.ts";
import { removeMessages } from "./messages.ts";
import { minuteOf, run, type SessionRecord, session } from "./schema/index.ts";
import { createSessionMessages } from "./session-messages.ts";
import {
  activityAt,
  createSession,
  loadSession,
  lockSession,
  mustLockSession,
  requireFree,
  toSession,
  updateSession,
} from "./session-rows.ts";

const DEFAULT_LIMIT = 100;

/** Applies a patch to a setting: `undefined` keeps it, `null` removes it. */
function patched(value: string | null | undefined, before: string | null): string | null {
  return value === undefined ? before : value;
}

export function createSessionStore<T extends Bodies>(context: Context, fence: Fence): SessionStore<T> {
  const { database } = context;
  return {
    get: (key) =>
      database.read(async (tx) => {
        const state = await loadSession(tx, key);
        return state && toSession(state);
      }),

    ensure: (seed) =>
      database.write(async (tx) => {
        createSession(tx, database, seed);
        const state = await loadSession(tx, seed.key);
        if (state === undefined) throw new StoreError("conflict", `Session "${seed.key}" was removed.`);
        return toSession(state);
      }, `session ${seed.key}`),

    patch: createPatch(context),
    ...createSessionMessages<T>(context, fence),
    ...createEnds<T>(context, fence),
    list: (filter) => list(database, filter ?? {}),
  };
}

function createPatch({ database }: Context): SessionStore["patch"] {
  return async (key, patch) => {
    const data = patch.data === undefined ? undefined : encodeOptional(patch.data, "The data of a session");
    return database.write(async (tx) => {
      const [state, at] = await Promise.all([mustLockSession(tx, key), tx.now]);
      const { record } = state;
      const settings: Partial<SessionRecord> = {
        title: patched(patch.title, record.title),
        model: patched(patch.model, record.model),
        thinking: patched(patch.thinking, record.thinking),
        queueMode: patched(patch.queueMode, record.queueMode),
        data: patched(data, record.data),
      };
      return toSession(updateSession(tx, state, { ...settings, ...activityAt(at) }));
    }, `session ${key}`);
  };
}

/** Creates the methods that reset and remove sessions. */
function createEnds<T extends Bodies>(
  { database }: Context,
  fence: Fence,
): Pick<SessionStore<T>, "reset" | "remove"> {
  return {
    reset: (key, lease) =>
      database.write(async (tx) => {
        const [, state, at] = await Promise.all([fence.check(tx, lease), mustLockSession(tx, key), tx.now]);
        requireFree(state);
        const { generation, lastSeq } = state.record;
        const fresh = { generation: generation + 1, floorSeq: lastSeq, summarySeq: null, messageCount: 0 };
        return toSession(updateSession(tx, state, { ...fresh, resetAt: at, ...activityAt(at) }));
      }, `session ${key}`),

    remove: (key, lease) =>
      database.write(async (tx) => {
        const [, state] = await Promise.all([fence.check(tx, lease), lockSession(tx, key)]);
        if (state === undefined) return false;
        requireFree(state);
        removeMessages(tx, key);
        tx.send(tx.db.delete(session).where(eq(session.key, key)));
        return true;
      }, `session ${key}`),
  };
}

type Filter = NonNullable<Parameters<SessionStore["list"]>[0]>;

function list(
  database: Database,
  { keys, agentId, channel, peer, behind, since = 0, limit = DEFAULT_LIMIT }: Filter,
): Promise<readonly Session[]> {
  return database.query(async (db) => {
    const rows = await db
      .select({ record: getTableColumns(session), holding: getTableColumns(run) })
      .from(session)
      .leftJoin(run, eq(run.n, session.activeRun))
      .where(
        and(
          behind && isBehind(behind),
          gte(session.updatedMinute, minuteOf(since)),
          gte(session.updatedAt, since),
          keys === undefined ? undefined : inArray(session.key, [...keys]),
          agentId === undefined ? undefined : eq(session.agentId, agentId),
          channel === undefined ? undefined : eq(session.channel, channel),
          peer === undefined ? undefined : eq(session.peer, peer),
        ),
      )
      .orderBy(desc(session.updatedMinute), desc(session.updatedAt), asc(session.key))
      .limit(limit);
    return rows.map(({ record, holding }) => toSession({ record, holding: holding ?? undefined }));
  });
}

function isBehind({ key, updatedAt }: SessionPosition): SQL | undefined {
  return and(
    lte(session.updatedMinute, minuteOf(updatedAt)),
    or(lt(session.updatedAt, updatedAt), and(eq(session.updatedAt, updatedAt), gt(session.key, key))),
  );
}
