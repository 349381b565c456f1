import { decodeIntact, encode, prepareHistory } from "@signalbox/store/backend";
import type { GroupHistoryStore, JsonValue } from "@signalbox/store/types";
import { and, asc, eq, type SQL } from "drizzle-orm";
import type { Context } from "./context.ts";
import { pushHistory } from "./group-history-rows.ts";
import { groupHistory, toldHistory } from "./schema/index.ts";

type Table = typeof groupHistory | typeof toldHistory;

export function createGroupHistoryStore({ database }: Context): GroupHistoryStore {
  return {
    async push(conversation, entry, limit) {
      const prepared = prepareHistory({ ...entry, conversation });
      return database.write(async (tx) => pushHistory(tx, prepared, limit), orderOf(conversation));
    },
    async revise(conversation, id, body) {
      const set = { body: encode(body, "An entry of the group history") };
      return database.write(async ({ db, send, change }) => {
        send(
          db
            .update(toldHistory)
            .set(set)
            .where(isEntry(toldHistory, conversation, id)),
        );
        const revised = db
          .update(groupHistory)
          .set(set)
          .where(isEntry(groupHistory, conversation, id));
        return (await change(revised)) > 0;
      }, orderOf(conversation));
    },
    list: (conversation) =>
      database.query(async (db) => {
        const rows = await db
          .select()
          .from(groupHistory)
          .where(isEntry(groupHistory, conversation))
          .orderBy(asc(groupHistory.n));
        return rows.flatMap(({ entryId: id, senderId, body: text, at }) => {
          const body = decodeIntact<JsonValue>(text);
          return body === undefined ? [] : [{ id, senderId, body, at }];
        });
      }),
    clear: (conversation, id) =>
      database.write(async ({ db, send }) => {
        send(db.delete(groupHistory).where(isEntry(groupHistory, conversation, id)));
        send(db.delete(toldHistory).where(isEntry(toldHistory, conversation, id)));
      }, orderOf(conversation)),
  };
}

const orderOf = (conversation: string) => `history ${conversation}`;

/** Selects an entry, or all entries of the conversation if no id is given. */
function isEntry(table: Table, conversation: string, id?: string): SQL | undefined {
  return and(eq(table.conversation, conversation), id === undefined ? undefined : eq(table.entryId, id));
}
