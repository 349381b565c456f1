import type { Context } from "./context.ts";
import { decode, encode } from "./json.ts";
import type { JsonValue } from "./types/common.ts";
import type { GroupHistoryStore } from "./types/side.ts";

const defaultLimit = 20;

interface EntryRecord {
  readonly entry_id: string;
  readonly sender_id: string;
  readonly body: string;
  readonly at: number;
}

export function createGroupHistoryStore({ database, queue }: Context): GroupHistoryStore {
  const replace = database.command<[string, string, number, string, string]>(
    "UPDATE group_history SET sender_id = ?, body = ?, at = ? WHERE conversation = ? AND entry_id = ?",
  );
  const insert = database.command<[string, string, string, string, number]>(
    "INSERT INTO group_history (conversation, entry_id, sender_id, body, at) VALUES (?, ?, ?, ?, ?)",
  );
  const trim = database.command<[string, number]>(
    `DELETE FROM group_history WHERE n IN
       (SELECT n FROM group_history WHERE conversation = ? ORDER BY n DESC LIMIT -1 OFFSET ?)`,
  );
  const revise = database.command<[string, string, string]>(
    "UPDATE group_history SET body = ? WHERE conversation = ? AND entry_id = ?",
  );
  const list = database.query<[string], EntryRecord>(
    "SELECT entry_id, sender_id, body, at FROM group_history WHERE conversation = ? ORDER BY n",
  );
  const remove = database.command<[string, string | null]>(
    "DELETE FROM group_history WHERE conversation = ?1 AND (?2 IS NULL OR entry_id = ?2)",
  );

  return {
    async push(conversation, { id, senderId, body, at }, limit) {
      const text = encode(body, "An entry of the group history");
      return queue.write(() => {
        if (replace.run(senderId, text, at, conversation, id) > 0) return;
        insert.run(conversation, id, senderId, text, at);
        trim.run(conversation, limit ?? defaultLimit);
      });
    },
    async revise(conversation, id, body) {
      const text = encode(body, "An entry of the group history");
      return queue.write(() => revise.run(text, conversation, id) > 0);
    },
    list: (conversation) =>
      queue.read(() =>
        list.all(conversation).map((row) => ({
          id: row.entry_id,
          senderId: row.sender_id,
          body: decode<JsonValue>(row.body),
          at: row.at,
        })),
      ),
    clear: (conversation, id) =>
      queue.write(() => {
        remove.run(conversation, id ?? null);
      }),
  };
}
