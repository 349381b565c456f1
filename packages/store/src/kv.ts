import type { Context } from "./context.ts";
import { decode, encode } from "./json.ts";
import type { KvRecord } from "./records.ts";
import type { JsonValue } from "./types/common.ts";
import type { KvStore } from "./types/side.ts";

export function createKvStore({ database, queue, now }: Context): KvStore {
  const get = database.query<[string, string, number], KvRecord>(
    "SELECT * FROM kv WHERE namespace = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)",
  );
  const set = database.command<[string, string, string, number | null]>(
    "INSERT OR REPLACE INTO kv (namespace, key, value, expires_at) VALUES (?, ?, ?, ?)",
  );
  const remove = database.command<[string, string]>("DELETE FROM kv WHERE namespace = ? AND key = ?");
  const list = database.query<[string, number], KvRecord>(
    "SELECT * FROM kv WHERE namespace = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key",
  );
  const expiry = (ttlMs: number | undefined) => (ttlMs === undefined ? null : now() + ttlMs);

  return {
    get: (namespace, key) =>
      queue.read(() => {
        const row = get.get(namespace, key, now());
        return row === undefined ? undefined : decode<JsonValue>(row.value);
      }),
    async set(namespace, key, value, ttlMs) {
      const text = encode(value, `The value of ${namespace}/${key}`);
      return queue.write(() => {
        set.run(namespace, key, text, expiry(ttlMs));
      });
    },
    async setIfAbsent(namespace, key, value, ttlMs) {
      const text = encode(value, `The value of ${namespace}/${key}`);
      return queue.write(() => {
        const row = get.get(namespace, key, now());
        if (row !== undefined) return decode<JsonValue>(row.value);
        set.run(namespace, key, text, expiry(ttlMs));
        return decode<JsonValue>(text);
      });
    },
    delete: (namespace, key) => queue.write(() => remove.run(namespace, key) > 0),
    list: (namespace) =>
      queue.read(() =>
        list.all(namespace, now()).map((row) => ({
          key: row.key,
          value: decode<JsonValue>(row.value),
          ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
        })),
      ),
  };
}
