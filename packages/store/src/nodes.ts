import { asc, eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { ROW_FORMAT } from "./row-format.ts";
import { node } from "./schema/index.ts";
import type { NodeStore } from "./types/nodes.ts";

export function createNodeStore({ database, queue, now }: Context): NodeStore {
  const { db } = database;
  const all = database.query(() => db.select().from(node).orderBy(asc(node.id)));
  const byId = database.query((p: Bound<{ id: string }>) =>
    db
      .select()
      .from(node)
      .where(eq(node.id, p("id"))),
  );
  const put = database.replace(node, [node.id]);

  return {
    report: ({ name = null, ...report }) =>
      queue.write(() => {
        const { takeovers = 0, fencedWrites = 0 } = byId.get({ id: report.id }) ?? {};
        const seenAt = now();
        put.run({ ...report, name, format: ROW_FORMAT, seenAt, takeovers, fencedWrites });
        return seenAt;
      }),
    count: (id, event) =>
      queue.write(() => {
        const row = byId.get({ id });
        if (row !== undefined) put.run({ ...row, labels: row.labels ?? [], [event]: row[event] + 1 });
      }),
    list: () =>
      queue.read(() =>
        all.all().map(({ name, labels, ...row }) => ({
          ...row,
          ...(name === null ? {} : { name }),
          labels: labels ?? [],
        })),
      ),
  };
}
