import { and, desc, eq, inArray } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { PreparedHistory } from "./group-history-prepare.ts";
import { groupHistory } from "./schema/index.ts";

/** Writes to the group history that several modules use. */
export interface GroupHistoryRows {
  /** Adds or replaces an entry. Removes the oldest entries beyond `limit` (default 20). */
  push(entry: PreparedHistory, limit?: number): void;
}

const DEFAULT_LIMIT = 20;
/** Maximum number of rows to trim at once. There is more than one row to trim only after the limit was lowered. */
const TRIM_AT_MOST = 1000;

export function createGroupHistoryRows({ database }: Context): GroupHistoryRows {
  const { db } = database;
  const insert = database.insert(groupHistory);
  const change = database.command((p: Bound<PreparedHistory>) =>
    db
      .update(groupHistory)
      .set({ senderId: p("senderId"), body: p("body"), at: p("at") })
      .where(and(eq(groupHistory.conversation, p("conversation")), eq(groupHistory.entryId, p("entryId")))),
  );
  const trim = database.command((p: Bound<{ conversation: string; keep: number }>) => {
    const beyond = db
      .select({ n: groupHistory.n })
      .from(groupHistory)
      .where(eq(groupHistory.conversation, p("conversation")))
      .orderBy(desc(groupHistory.n))
      .limit(TRIM_AT_MOST)
      .offset(p("keep"));
    return db.delete(groupHistory).where(inArray(groupHistory.n, beyond));
  });
  return {
    push(entry, limit = DEFAULT_LIMIT) {
      if (change.run(entry).changes > 0) return;
      insert.run(entry);
      trim.run({ conversation: entry.conversation, keep: limit });
    },
  };
}
