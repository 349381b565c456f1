import { desc, lte, max, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { trace } from "./schema/index.ts";
import { sweep } from "./sweep.ts";

/** Keeps the newest traces. Returns the number of removed rows. */
export async function capTraceRows(database: Database, limit: number): Promise<number> {
  const beyond = await database.query((db) =>
    db.select({ n: trace.n }).from(trace).orderBy(desc(trace.n)).limit(1).offset(limit),
  );
  return removeTo(database, beyond[0]?.n);
}

/** Keeps the newest traces with a total size of at most `limit` bytes. Returns the number of removed rows. */
export async function capTraceBytes(database: Database, limit: number): Promise<number> {
  const beyond = await database.query((db) => {
    const size = sql`octet_length(${trace.entries}) + octet_length(${trace.subject}) + 16`;
    const sizes = db
      .select({ n: trace.n, total: sql<number>`sum(${size}) OVER (ORDER BY ${trace.n} DESC)`.as("total") })
      .from(trace)
      .as("sizes");
    return db
      .select({ n: max(sizes.n) })
      .from(sizes)
      .where(sql`${sizes.total} > ${limit}`);
  });
  return removeTo(database, beyond[0]?.n ?? undefined);
}

async function removeTo(database: Database, last: number | undefined): Promise<number> {
  if (last === undefined) return 0;
  return sweep(database, { table: trace, key: { n: trace.n }, goes: lte(trace.n, last) });
}
