import { ROW_FORMAT } from "@signalbox/store/backend";
import type { NodeStore } from "@signalbox/store/types";
import { asc, eq, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { node } from "./schema/index.ts";

export function createNodeStore({ database }: Context): NodeStore {
  return {
    report: ({ id, name, ...report }) =>
      database.write(async ({ db, now, send }) => {
        const seenAt = await now;
        const set = { ...report, name: name ?? null, format: ROW_FORMAT, seenAt };
        send(
          db
            .insert(node)
            .values({ id, ...set })
            .onConflictDoUpdate({ target: node.id, set }),
        );
        return seenAt;
      }, `node ${id}`),

    count: (id, event) =>
      database.write(async ({ db, send }) => {
        const more = sql`${node[event]} + 1`;
        send(
          db
            .update(node)
            .set({ [event]: more })
            .where(eq(node.id, id)),
        );
      }, `node ${id}`),

    list: () =>
      database.query(async (db) => {
        const rows = await db.select().from(node).orderBy(asc(node.id));
        return rows.map(({ name, ...row }) => ({ ...row, ...(name === null ? {} : { name }) }));
      }),
  };
}
