import type { PreparedHistory } from "@signalbox/store/backend";
import { desc, eq, inArray } from "drizzle-orm";
import { groupHistory } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

const DEFAULT_LIMIT = 20;

/** Adds or replaces an entry. Removes the oldest entries beyond `limit` (default 20). */
export function pushHistory({ db, send }: Transaction, entry: PreparedHistory, limit = DEFAULT_LIMIT): void {
  const { senderId, body, at } = entry;
  send(
    db
      .insert(groupHistory)
      .values(entry)
      .onConflictDoUpdate({
        target: [groupHistory.conversation, groupHistory.entryId],
        set: { senderId, body, at },
      }),
  );
  const beyond = db
    .select({ n: groupHistory.n })
    .from(groupHistory)
    .where(eq(groupHistory.conversation, entry.conversation))
    .orderBy(desc(groupHistory.n))
    .offset(limit);
  send(db.delete(groupHistory).where(inArray(groupHistory.n, beyond)));
}
