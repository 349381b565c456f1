import { and, asc, eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { type GroupHistoryRows, prepareHistory } from "./group-history-rows.ts";
import { decode, encode } from "./json.ts";
import { groupHistory, toldHistory } from "./schema/index.ts";
import type { JsonValue } from "./types/common.ts";
import type { GroupHistoryStore } from "./types/side.ts";

export function createGroupHistoryStore(
  { database, queue }: Context,
  rows: GroupHistoryRows,
): GroupHistoryStore {
  const { db } = database;
  const isEntry = (p: Bound<{ conversation: string; entryId: string }>) =>
    and(eq(groupHistory.conversation, p.conversation), eq(groupHistory.entryId, p.entryId));
  const revise = database.command((p: Bound<{ conversation: string; entryId: string; body: string }>) =>
    db.update(groupHistory).set({ body: p.body }).where(isEntry(p)),
  );
  const ofConversation = database.query((p: Bound<{ conversation: string }>) =>
    db
      .select()
      .from(groupHistory)
      .where(eq(groupHistory.conversation, p.conversation))
      .orderBy(asc(groupHistory.n)),
  );
  const remove = database.command((p: Bound<{ conversation: string; entryId: string }>) =>
    db.delete(groupHistory).where(isEntry(p)),
  );
  const removeAll = database.command((p: Bound<{ conversation: string }>) =>
    db.delete(groupHistory).where(eq(groupHistory.conversation, p.conversation)),
  );

  const isTold = (p: Bound<{ conversation: string; entryId: string }>) =>
    and(eq(toldHistory.conversation, p.conversation), eq(toldHistory.entryId, p.entryId));
  const reviseTold = database.command((p: Bound<{ conversation: string; entryId: string; body: string }>) =>
    db.update(toldHistory).set({ body: p.body }).where(isTold(p)),
  );
  const removeTold = database.command((p: Bound<{ conversation: string; entryId: string }>) =>
    db.delete(toldHistory).where(isTold(p)),
  );
  const removeAllTold = database.command((p: Bound<{ conversation: string }>) =>
    db.delete(toldHistory).where(eq(toldHistory.conversation, p.conversation)),
  );

  return {
    async push(conversation, entry, limit) {
      const prepared = prepareHistory({ ...entry, conversation });
      return queue.write(() => rows.push(prepared, limit));
    },
    async revise(conversation, id, body) {
      const text = encode(body, "An entry of the group history");
      const revised = { conversation, entryId: id, body: text };
      return queue.write(() => {
        reviseTold.run(revised);
        return revise.run(revised).changes > 0;
      });
    },
    list: (conversation) =>
      queue.read(() =>
        ofConversation.all({ conversation }).map((row) => ({
          id: row.entryId,
          senderId: row.senderId,
          body: decode<JsonValue>(row.body),
          at: row.at,
        })),
      ),
    clear: (conversation, id) =>
      queue.write(() => {
        if (id === undefined) {
          removeAll.run({ conversation });
          removeAllTold.run({ conversation });
        } else {
          remove.run({ conversation, entryId: id });
          removeTold.run({ conversation, entryId: id });
        }
      }),
  };
}
