import { asc, eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { trace } from "./schema/index.ts";
import { type BufferedTraceStore, createTraceBuffer } from "./trace-buffer.ts";

export function createTraceStore({ database, queue, now }: Context): BufferedTraceStore {
  const { db } = database;
  const insert = database.insert(trace);
  const ofSubject = database.query((p: Bound<{ subject: string }>) =>
    db
      .select({ entries: trace.entries })
      .from(trace)
      .where(eq(trace.subject, p("subject")))
      .orderBy(asc(trace.n)),
  );
  return createTraceBuffer({
    now,
    write: (rows) =>
      queue.write(() => {
        for (const row of rows) insert.run(row);
      }),
    read: (subject) => queue.read(() => ofSubject.all({ subject }).map(({ entries }) => entries)),
  });
}
