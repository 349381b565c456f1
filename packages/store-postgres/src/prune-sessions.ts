import type { Retention } from "@signalbox/store/types";
import { and, asc, desc, eq, isNull, lt, lte } from "drizzle-orm";
import type { Database } from "./database.ts";
import { removeMessages } from "./messages.ts";
import { inbox, minuteOf, session } from "./schema/index.ts";
import { lockSession } from "./session-rows.ts";

/**
 * Removes idle sessions, and the least recently active sessions beyond the maximum number, with their messages. Returns
 * the number of removed sessions.
 */
export async function pruneSessions(
  database: Database,
  { idleSessionsMs, sessions: kept }: Retention,
  at: number,
): Promise<number> {
  const old = idleSessionsMs === undefined ? 0 : await removeIdleSince(database, at - idleSessionsMs);
  const last = kept === undefined ? undefined : await findNthNewest(database, Math.max(0, kept - 1));
  return old + (last === undefined ? 0 : await removeIdleSince(database, last));
}

/** Returns the time of the latest activity in the session with this position, counted from 0. */
async function findNthNewest(database: Database, position: number): Promise<number | undefined> {
  const [row] = await database.query((db) =>
    db
      .select({ updatedAt: session.updatedAt })
      .from(session)
      .orderBy(desc(session.updatedMinute), desc(session.updatedAt))
      .limit(1)
      .offset(position),
  );
  return row?.updatedAt;
}

async function removeIdleSince(database: Database, limit: number): Promise<number> {
  const idle = await database.query((db) =>
    db
      .select({ key: session.key })
      .from(session)
      .where(
        and(
          lte(session.updatedMinute, minuteOf(limit)),
          lt(session.updatedAt, limit),
          isNull(session.activeRun),
        ),
      )
      .orderBy(asc(session.updatedMinute), asc(session.key)),
  );
  let removed = 0;
  for (const { key } of idle) removed += (await removeIfIdle(database, key, limit)) ? 1 : 0;
  return removed;
}

/** Checks again under a lock, because the session may have become active. */
function removeIfIdle(database: Database, key: string, limit: number): Promise<boolean> {
  return database.write(async (tx) => {
    const { db, send } = tx;
    const isWaiting = and(isNull(inbox.settledAt), eq(inbox.sessionKey, key));
    const [state, waiting] = await Promise.all([
      lockSession(tx, key),
      db.select({ seq: inbox.seq }).from(inbox).where(isWaiting).limit(1),
    ]);
    if (state === undefined || state.record.activeRun !== null || state.record.updatedAt >= limit)
      return false;
    // A queued message does not update its session until its run begins.
    if (waiting.length > 0) return false;
    removeMessages(tx, key);
    send(db.delete(session).where(eq(session.key, key)));
    return true;
  });
}
