import { desc, lt, lte, max, min, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { trace } from "./schema/index.ts";
import { CHUNK } from "./sweep.ts";

/** Removes the oldest traces beyond a limit. The methods return the number of removed rows. */
export interface TraceCaps {
  rows(limit: number): Promise<number>;
  bytes(limit: number): Promise<number>;
}

export function createTraceCaps({ database, queue }: Context): TraceCaps {
  const { db } = database;
  const oldestTrace = database.query(() => db.select({ n: min(trace.n) }).from(trace));
  const newestTrace = database.query(() => db.select({ n: max(trace.n) }).from(trace));
  const removeTraces = database.command((p: Bound<{ to: number }>) =>
    db.delete(trace).where(lte(trace.n, p("to"))),
  );
  const traceSizes = database.query((p: Bound<{ before: number }>) =>
    db
      .select({
        n: trace.n,
        bytes: sql<number>`octet_length(${trace.entries}) + octet_length(${trace.subject}) + 16`,
      })
      .from(trace)
      .where(lt(trace.n, p("before")))
      .orderBy(desc(trace.n))
      .limit(CHUNK),
  );

  async function removeTracesTo(last: number): Promise<number> {
    const first = (await queue.read(() => oldestTrace.get()?.n)) ?? last + 1;
    let removed = 0;
    for (let n = first - 1; n < last; n += CHUNK) {
      removed += await queue.write(() => removeTraces.run({ to: Math.min(last, n + CHUNK) }).changes);
    }
    return removed;
  }

  async function capRows(limit: number): Promise<number> {
    const last = await queue.read(() => newestTrace.get()?.n);
    return typeof last === "number" ? removeTracesTo(last - limit) : 0;
  }

  async function capBytes(limit: number): Promise<number> {
    let bytes = 0;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const sizes = await queue.read(() => traceSizes.all({ before }));
      for (const { n, bytes: size } of sizes) {
        bytes += size;
        if (bytes > limit) return removeTracesTo(n);
        before = n;
      }
      if (sizes.length < CHUNK) return 0;
      // Yield to the event loop between two queries.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return { rows: capRows, bytes: capBytes };
}
