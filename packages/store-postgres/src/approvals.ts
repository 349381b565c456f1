import { decodeIntact, encode } from "@signalbox/store/backend";
import type { ApprovalStore, Bodies } from "@signalbox/store/types";
import { and, desc, eq, inArray } from "drizzle-orm";
import type { Context } from "./context.ts";
import { lockNames } from "./locks.ts";
import { type ApprovalRecord, approval } from "./schema/index.ts";

const DEFAULT_LIMIT = 100;

/** Parses a row. Omits a request with damaged JSON, because it could not be decided. */
function intact<T extends Bodies>(row: ApprovalRecord): T["approval"][] {
  const { question, state, approver, grant, decidedAt } = row;
  const asked = decodeIntact<T["approval"]>(question);
  if (asked === undefined) return [];
  return [
    {
      ...asked,
      state,
      ...(approver === null ? {} : { approver }),
      ...(grant === null ? {} : { grant }),
      ...(decidedAt === null ? {} : { decidedAt }),
    },
  ];
}

export function createApprovalStore<T extends Bodies>({ database }: Context): ApprovalStore<T> {
  return {
    async ask(asked, most) {
      const question = encode(asked, "A question");
      const { id, sessionKey, hash, state, createdAt } = asked;
      return database.write(async (tx) => {
        const { db } = tx;
        lockNames(tx, [`approvals ${sessionKey}`]);
        const isPending = and(eq(approval.sessionKey, sessionKey), eq(approval.state, "pending"));
        const pending = (await db.select().from(approval).where(isPending).orderBy(approval.n)).flatMap(
          intact<T>,
        );
        const same = pending.find((one) => one.hash === hash);
        if (same !== undefined) return { outcome: "open", approval: same };
        if (pending.length >= most) return { outcome: "full", open: pending.length };
        const row = { id, sessionKey, hash, question, state, createdAt };
        const added = await db.insert(approval).values(row).onConflictDoNothing().returning();
        return added.length === 0
          ? { outcome: "taken" }
          : { outcome: "asked", approval: JSON.parse(question) };
      }, `approvals ${sessionKey}`);
    },

    get: (id) =>
      database.query(async (db) => {
        const rows = await db.select().from(approval).where(eq(approval.id, id));
        return rows.flatMap(intact<T>)[0];
      }),

    change: (id, from, to) =>
      database.write(async ({ db }) => {
        const rows = await db
          .update(approval)
          .set(to)
          .where(and(eq(approval.id, id), eq(approval.state, from)))
          .returning();
        return rows.flatMap(intact<T>)[0];
      }, `approval ${id}`),

    list: ({ states, limit = DEFAULT_LIMIT } = {}) =>
      database.query(async (db) => {
        const wanted = states === undefined ? undefined : inArray(approval.state, [...states]);
        const rows = await db.select().from(approval).where(wanted).orderBy(desc(approval.n)).limit(limit);
        return rows.flatMap(intact<T>);
      }),
  };
}
