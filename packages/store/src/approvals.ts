import { and, desc, eq, inArray } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { decodeIntact, encode } from "./json.ts";
import { type ApprovalRecord, approval, isOpenApproval } from "./schema/index.ts";
import type { ApprovalStore } from "./types/approvals.ts";
import type { ApprovalState, Bodies } from "./types/common.ts";

const DEFAULT_LIMIT = 100;

function prepareStatements(database: Database) {
  const { db } = database;
  return {
    insert: database.insert(approval),
    byId: database.query((p: Bound<{ id: string }>) =>
      db
        .select()
        .from(approval)
        .where(eq(approval.id, p("id"))),
    ),
    pendingIn: database.query((p: Bound<{ sessionKey: string }>) =>
      db
        .select()
        .from(approval)
        .where(and(eq(approval.sessionKey, p("sessionKey")), isOpenApproval, eq(approval.state, "pending"))),
    ),
    set: database.command(
      (p: Bound<Pick<ApprovalRecord, "n" | "approver" | "grant" | "decidedAt"> & { state: ApprovalState }>) =>
        db
          .update(approval)
          .set({ state: p("state"), approver: p("approver"), grant: p("grant"), decidedAt: p("decidedAt") })
          .where(eq(approval.n, p("n"))),
    ),
  };
}

export function createApprovalStore<T extends Bodies>({ database, queue }: Context): ApprovalStore<T> {
  const statements = prepareStatements(database);

  /** Parses a row. Omits a request with damaged JSON, because nobody could decide it. */
  function intact({ question, state, approver, grant, decidedAt }: ApprovalRecord): T["approval"][] {
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

  const byId = (id: string): T["approval"] | undefined => {
    const row = statements.byId.get({ id });
    return row && intact(row)[0];
  };

  return {
    async ask(asked, most) {
      const question = encode(asked, "A question");
      const { id, sessionKey, hash, state, createdAt } = asked;
      return queue.write(() => {
        const pending = statements.pendingIn.all({ sessionKey }).flatMap(intact);
        const same = pending.find((approval) => approval.hash === hash);
        if (same !== undefined) return { outcome: "open", approval: same };
        if (pending.length >= most) return { outcome: "full", open: pending.length };
        if (statements.byId.get({ id }) !== undefined) return { outcome: "taken" };
        statements.insert.run({ id, sessionKey, hash, question, state, createdAt });
        return { outcome: "asked", approval: JSON.parse(question) };
      });
    },

    get: (id) => queue.read(() => byId(id)),

    change: (id, from, to) =>
      queue.write(() => {
        const row = statements.byId.get({ id });
        if (row?.state !== from) return undefined;
        const { n, approver, grant, decidedAt } = row;
        statements.set.run({ n, approver, grant, decidedAt, ...to });
        return byId(id);
      }),

    list: ({ states, limit = DEFAULT_LIMIT } = {}) =>
      queue.read(() =>
        database.db
          .select()
          .from(approval)
          .where(conditionOf(states))
          .orderBy(desc(approval.n))
          .limit(limit)
          .all()
          .flatMap(intact),
      ),
  };
}

/** Adds the condition of the index `approval_open` if the query selects only open approvals. */
function conditionOf(states: readonly ApprovalState[] | undefined) {
  if (states === undefined) return undefined;
  const wanted = inArray(approval.state, [...states]);
  const onlyOpen = states.every((state) => state === "pending" || state === "allowed");
  return onlyOpen ? and(isOpenApproval, wanted) : wanted;
}
