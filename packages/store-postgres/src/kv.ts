import { decode, decodeIntact, encode } from "@signalbox/store/backend";
import type { JsonValue, KvStore } from "@signalbox/store/types";
import { and, asc, eq, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { kv } from "./schema/index.ts";

export function createKvStore({ database }: Context): KvStore {
  const isLive = () => or(isNull(kv.expiresAt), gt(kv.expiresAt, database.now()));

  return {
    get: (namespace, key) =>
      database.query(async (db) => {
        const [row] = await db
          .select()
          .from(kv)
          .where(and(isKey(namespace, key), isLive()));
        return row === undefined ? undefined : decode<JsonValue>(row.value, "kv", `${namespace}/${key}`);
      }),
    async set(namespace, key, value, ttlMs) {
      const text = encode(value, `The value of ${namespace}/${key}`);
      return database.write(async ({ db, send }) => {
        const expiresAt = ttlMs === undefined ? null : sql`${database.now()} + ${ttlMs}`;
        const set = { value: text, expiresAt };
        const row = { namespace, key, ...set };
        send(
          db
            .insert(kv)
            .values(row)
            .onConflictDoUpdate({ target: [kv.namespace, kv.key], set }),
        );
      }, `kv ${namespace} ${key}`);
    },
    delete: (namespace, key) =>
      database.write(
        async ({ db, change }) => (await change(db.delete(kv).where(isKey(namespace, key)))) > 0,
        `kv ${namespace} ${key}`,
      ),
    list: (namespace) =>
      database.query(async (db) => {
        const isIn = eq(kv.namespace, namespace);
        const rows = await db.select().from(kv).where(and(isIn, isLive())).orderBy(asc(kv.key));
        return rows.map(({ key, value, expiresAt }) => ({
          key,
          value: decodeIntact<JsonValue>(value) ?? null,
          expiresAt: expiresAt ?? undefined,
        }));
      }),
  };
}

const isKey = (namespace: string, key: string): SQL | undefined =>
  and(eq(kv.namespace, namespace), eq(kv.key, key));
