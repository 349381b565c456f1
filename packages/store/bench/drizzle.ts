// What a statement of drizzle's costs beside the same by hand, both prepared. Usage: node bench/drizzle.ts [statements]
import Sqlite from "better-sqlite3";
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { kv } from "../src/schema/index.ts";
import { quantile } from "./measure.ts";

const count = Number(process.argv[2] ?? 20_000);
const rounds = 15;
const raw = new Sqlite(":memory:");
raw.exec(
  "CREATE TABLE kv (namespace TEXT, key TEXT, value TEXT, expires_at INTEGER, PRIMARY KEY (namespace, key))",
);
const db = drizzle(raw, { casing: "snake_case" });

const handSelect = raw.prepare(
  "SELECT namespace, key, value, expires_at FROM kv WHERE key = ? AND namespace = 'n'",
);
const drizzleSelect = db
  .select()
  .from(kv)
  .where(sql`${eq(kv.key, sql.placeholder("key"))} AND ${kv.namespace} = 'n'`)
  .prepare();
const handUpdate = raw.prepare("UPDATE kv SET value = ? WHERE namespace = 'n' AND key = ?");
const drizzleUpdate = db
  .update(kv)
  .set({ value: sql`${sql.placeholder("value")}` })
  .where(sql`${kv.namespace} = 'n' AND ${eq(kv.key, sql.placeholder("key"))}`)
  .prepare();
for (let i = 0; i < 1000; i += 1) raw.prepare("INSERT INTO kv VALUES ('n', ?, 'v', NULL)").run(String(i));

/** Microseconds for one statement: the median of some rounds. */
function cost(statement: (key: string) => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    for (let i = 0; i < count; i += 1) statement(String(i % 1000));
    return ((performance.now() - start) * 1000) / count;
  });
  return quantile(times, 0.5);
}

function row(name: string, byHand: number, drizzled: number): void {
  const figures = `by hand ${byHand.toFixed(2)} µs  drizzle ${drizzled.toFixed(2)} µs`;
  console.log(`${name.padEnd(20)}  ${figures}  ratio ${(drizzled / byHand).toFixed(2)}`);
}

row(
  "select of one row",
  cost((key) => handSelect.get(key)),
  cost((key) => drizzleSelect.get({ key })),
);
row(
  "update of one row",
  cost((key) => handUpdate.run("w", key)),
  cost((key) => drizzleUpdate.run({ value: "w", key })),
);
