import { and, asc, desc, eq, isNull, lt, lte, notInArray, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { MessageChain } from "./messages.ts";
import { activeRun, inbox, session } from "./schema/index.ts";
import type { SessionRows } from "./session-rows.ts";
import type { Bodies } from "./types/common.ts";
import type { Retention } from "./types/maintenance.ts";

/**
 * Creates a function that removes idle sessions, and the least recently active sessions beyond the maximum number, with
 * their messages. The function returns the number of removed sessions.
 */
export function createSessionSweeper(
  { database, queue }: Context,
  sessions: SessionRows,
  chain: MessageChain<Bodies>,
): (retention: Retention, at: number) => Promise<number> {
  const { db } = database;
  const waitsIn = database.query((p: Bound<{ key: string }>) =>
    db
      .select({ seq: inbox.seq })
      .from(inbox)
      .where(and(isNull(inbox.settledAt), eq(inbox.sessionKey, p("key"))))
      .limit(1),
  );
  const idleSince = database.query((p: Bound<{ limit: number }>) =>
    db
      .select({ key: session.key })
      .from(session)
      .where(
        and(
          lte(session.updatedMinute, sql`${p("limit")} / 60000`),
          lt(session.updatedAt, p("limit")),
          notInArray(session.key, db.select({ key: activeRun.sessionKey }).from(activeRun)),
        ),
      )
      .orderBy(asc(session.updatedMinute)),
  );
  const nthNewest = database.query((p: Bound<{ n: number }>) =>
    db
      .select({ updatedAt: session.updatedAt })
      .from(session)
      .orderBy(desc(session.updatedMinute), desc(session.updatedAt))
      .limit(1)
      .offset(p("n")),
  );
  const removeSession = database.command((p: Bound<{ key: string }>) =>
    db.delete(session).where(eq(session.key, p("key"))),
  );

  async function sweepIdleSince(limit: number): Promise<number> {
    let removed = 0;
    for (const { key } of await queue.read(() => idleSince.all({ limit }))) {
      removed += await queue.write(() => {
        const state = sessions.load(key);
        if (state === undefined || state.active !== undefined || state.record.updatedAt >= limit) return 0;
        // A queued message does not update its session until its run begins.
        if (waitsIn.get({ key }) !== undefined) return 0;
        chain.remove(state.record, key);
        return removeSession.run({ key }).changes;
      });
    }
    return removed;
  }

  return async ({ idleSessionsMs, sessions: keep }, at) => {
    const old = idleSessionsMs === undefined ? 0 : await sweepIdleSince(at - idleSessionsMs);
    const last =
      keep === undefined ? undefined : await queue.read(() => nthNewest.get({ n: Math.max(0, keep - 1) }));
    return old + (last === undefined ? 0 : await sweepIdleSince(last.updatedAt));
  };
}
