import { and, asc, eq, gt, inArray, isNull, lte, min, not, or, sql } from "drizzle-orm";
import type { Bound, Database } from "./database.ts";
import { type Destination, isUnsentTo } from "./outbox-rows.ts";
import { isUnsent, type OutboxRecord, outbox } from "./schema/index.ts";

/** Until when the replies of an account wait. */
interface Wait {
  readonly channel: string;
  readonly account: string;
  readonly until: number;
}

/**
 * The first unsent row of each destination. Many of them may wait, for an account that is away, while others are sent:
 * SQLite tells them apart, and few are read.
 */
export interface OutboxHeads {
  /** Those that wait for nothing, the oldest first. */
  due(at: number): Generator<OutboxRecord>;
  waiting(at: number): readonly Wait[];
  /** What nobody wants any more, with what is behind it and nobody wants either. */
  tooOld(at: number): readonly OutboxRecord[];
}

/** Rows that are read together. */
const PAGE = 100;

/** What may be out already is for reconciliation to decide, not for the clock. */
export function isTooOld({ state, expiresAt }: OutboxRecord, at: number): boolean {
  return state === "pending" && expiresAt !== null && expiresAt <= at;
}

function prepareStatements(database: Database) {
  const { db } = database;
  const isHead = () =>
    inArray(
      outbox.seq,
      db
        .select({ seq: min(outbox.seq) })
        .from(outbox)
        .where(isUnsent)
        .groupBy(outbox.channel, outbox.account, outbox.address),
    );
  const isPending = eq(outbox.state, "pending");
  // Where the clock was set back since, nobody knows for how long it was to wait, and it has waited.
  const waits = ({ at }: Bound<{ at: number }>) =>
    sql`${and(
      isPending,
      gt(outbox.nextAt, at),
      lte(outbox.updatedAt, at),
      or(isNull(outbox.expiresAt), gt(outbox.expiresAt, at)),
    )}`;
  return {
    due: database.query((p: Bound<{ at: number; after: number }>) =>
      db
        .select()
        .from(outbox)
        .where(and(isHead(), gt(outbox.seq, p.after), not(waits(p))))
        .orderBy(asc(outbox.seq))
        .limit(PAGE),
    ),
    waiting: database.query((p: Bound<{ at: number }>) =>
      db
        .select({
          channel: outbox.channel,
          account: outbox.account,
          until: sql<number>`min(${outbox.nextAt})`,
        })
        .from(outbox)
        .where(and(isHead(), waits(p)))
        .groupBy(outbox.channel, outbox.account),
    ),
    tooOld: database.query((p: Bound<{ at: number }>) =>
      db
        .select()
        .from(outbox)
        .where(and(isHead(), isPending, lte(outbox.expiresAt, p.at)))
        .orderBy(asc(outbox.seq)),
    ),
    nextTo: database.query((p: Bound<Destination & { seq: number }>) =>
      db
        .select()
        .from(outbox)
        .where(and(isUnsentTo(p), gt(outbox.seq, p.seq)))
        .orderBy(asc(outbox.seq))
        .limit(1),
    ),
  };
}

export function createOutboxHeads(database: Database): OutboxHeads {
  const statements = prepareStatements(database);
  return {
    *due(at) {
      let after: number | undefined = 0;
      while (after !== undefined) {
        const page: OutboxRecord[] = statements.due.all({ at, after });
        yield* page;
        after = page.at(PAGE - 1)?.seq;
      }
    },
    waiting: (at) => statements.waiting.all({ at }),
    tooOld(at) {
      const found: OutboxRecord[] = [];
      for (const head of statements.tooOld.all({ at })) {
        let row: OutboxRecord | undefined = head;
        for (; row !== undefined && isTooOld(row, at); row = statements.nextTo.get(row)) found.push(row);
      }
      return found;
    },
  };
}
