import { type BufferedTraceStore, createTraceBuffer } from "@signalbox/store/backend";
import { asc, eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import { trace } from "./schema/index.ts";

/** @param now the time of entries that have none, in milliseconds */
export function createTraceStore({ database }: Context, now: () => number): BufferedTraceStore {
  return createTraceBuffer({
    now,
    write: (rows) =>
      database.write(async ({ db, send }) => send(db.insert(trace).values([...rows])), "traces"),
    read: (subject) =>
      database.query(async (db) => {
        const rows = await db
          .select({ entries: trace.entries })
          .from(trace)
          .where(eq(trace.subject, subject))
          .orderBy(asc(trace.n));
        return rows.map(({ entries }) => entries);
      }),
  });
}
