import { and, asc, eq, gt, isNull, or } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { decode, decodeIntact, encode } from "./json.ts";
import { kv } from "./schema/index.ts";
import type { JsonValue } from "./types/common.ts";
import type { KvStore } from "./types/kv.ts";

export function createKvStore({ database, queue, now }: Context): KvStore {
  const { db } = database;
  const isLive = (p: Bound<{ at: number }>) => or(isNull(kv.expiresAt), gt(kv.expiresAt, p("at")));
  const byKey = database.query((p: Bound<{ namespace: string; key: string; at: number }>) =>
    db
      .select()
      .from(kv)
      .where(and(eq(kv.namespace, p("namespace")), eq(kv.key, p("key")), isLive(p))),
  );
  const inNamespace = database.query((p: Bound<{ namespace: string; at: number }>) =>
    db
      .select()
      .from(kv)
      .where(and(eq(kv.namespace, p("namespace")), isLive(p)))
      .orderBy(asc(kv.key)),
  );
  const put = database.replace(kv, [kv.namespace, kv.key]);
  const remove = database.command((p: Bound<{ namespace: string; key: string }>) =>
    db.delete(kv).where(and(eq(kv.namespace, p("namespace")), eq(kv.key, p("key")))),
  );

  return {
    get: (namespace, key) =>
      queue.read(() => {
        const row = byKey.get({ namespace, key, at: now() });
        return row === undefined ? undefined : decode<JsonValue>(row.value, "kv", `${namespace}/${key}`);
      }),
    async set(namespace, key, value, ttlMs) {
      const text = encode(value, `The value of ${namespace}/${key}`);
      return queue.write(() => {
        put.run({ namespace, key, value: text, expiresAt: ttlMs === undefined ? null : now() + ttlMs });
      });
    },
    delete: (namespace, key) => queue.write(() => remove.run({ namespace, key }).changes > 0),
    list: (namespace) =>
      queue.read(() =>
        inNamespace.all({ namespace, at: now() }).map(({ key, value, expiresAt }) => ({
          key,
          value: decodeIntact<JsonValue>(value) ?? null,
          expiresAt: expiresAt ?? undefined,
        })),
      ),
  };
}
