import { and, asc, eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { prepareHistory } from "./group-history-prepare.ts";
import type { GroupHistoryRows } from "./group-history-rows.ts";
import { decodeIntact, encode } from "./json.ts";
import { groupHistory, toldHistory } from "./schema/index.ts";
import type { JsonValue } from "./types/common.ts";
import type { GroupHistoryStore } from "./types/history.ts";

function prepareStatements(database: Database) {
  const { db } = database;
  const isEntry = (p: Bound<{ conversation: string; entryId: string }>) =>
    and(eq(groupHistory.conversation, p("conversation")), eq(groupHistory.entryId, p("entryId")));
  const isTold = (p: Bound<{ conversation: string; entryId: string }>) =>
    and(eq(toldHistory.conversation, p("conversation")), eq(toldHistory.entryId, p("entryId")));
  return {
    revise: database.command((p: Bound<{ conversation: string; entryId: string; body: string }>) =>
      db
        .update(groupHistory)
        .set({ body: p("body") })
        .where(isEntry(p)),
    ),
    ofConversation: database.query((p: Bound<{ conversation: string }>) =>
      db
        .select()
        .from(groupHistory)
        .where(eq(groupHistory.conversation, p("conversation")))
        .orderBy(asc(groupHistory.n)),
    ),
    remove: database.command((p: Bound<{ conversation: string; entryId: string }>) =>
      db.delete(groupHistory).where(isEntry(p)),
    ),
    removeAll: database.command((p: Bound<{ conversation: string }>) =>
      db.delete(groupHistory).where(eq(groupHistory.conversation, p("conversation"))),
    ),
    reviseTold: database.command((p: Bound<{ conversation: string; entryId: string; body: string }>) =>
      db
        .update(toldHistory)
        .set({ body: p("body") })
        .where(isTold(p)),
    ),
    removeTold: database.command((p: Bound<{ conversation: string; entryId: string }>) =>
      db.delete(toldHistory).where(isTold(p)),
    ),
    removeAllTold: database.command((p: Bound<{ conversation: string }>) =>
      db.delete(toldHistory).where(eq(toldHistory.conversation, p("conversation"))),
    ),
  };
}

export function createGroupHistoryStore(
  { database, queue }: Context,
  rows: GroupHistoryRows,
): GroupHistoryStore {
  const statements = prepareStatements(database);

  return {
    async push(conversation, entry, limit) {
      const prepared = prepareHistory({ ...entry, conversation });
      return queue.write(() => rows.push(prepared, limit));
    },
    async revise(conversation, id, body) {
      const text = encode(body, "An entry of the group history");
      const revised = { conversation, entryId: id, body: text };
      return queue.write(() => {
        statements.reviseTold.run(revised);
        return statements.revise.run(revised).changes > 0;
      });
    },
    list: (conversation) =>
      queue.read(() =>
        statements.ofConversation
          .all({ conversation })
          .flatMap(({ entryId: id, senderId, body: text, at }) => {
            const body = decodeIntact<JsonValue>(text);
            return body === undefined ? [] : [{ id, senderId, body, at }];
          }),
      ),
    clear: (conversation, id) =>
      queue.write(() => {
        if (id === undefined) {
          statements.removeAll.run({ conversation });
          statements.removeAllTold.run({ conversation });
        } else {
          statements.remove.run({ conversation, entryId: id });
          statements.removeTold.run({ conversation, entryId: id });
        }
      }),
  };
}
