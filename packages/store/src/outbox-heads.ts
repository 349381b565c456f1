import { and, asc, eq, gt, inArray, isNull, lte, min, not, or, sql } from "drizzle-orm";
import type { Bound, Database } from "./database.ts";
import { type Destination, isUnsentTo } from "./outbox-rows.ts";
import { isUnsent, type OutboxRecord, outbox } from "./schema/index.ts";

/** The earliest due time of an account's waiting replies. */
interface Wait {
  readonly channel: string;
  readonly account: string;
  readonly until: number;
}

/**
 * The first unsent row of each destination. SQLite selects these rows, so that a claim reads only a few rows even if
 * thousands are waiting for an account that is offline.
 */
export interface OutboxHeads {
  /** Yields the rows that can be sent now, oldest first. */
  due(at: number): Generator<OutboxRecord>;
  waiting(at: number): readonly Wait[];
  /** Returns the expired heads and the expired rows directly behind them at the same destination. */
  tooOld(at: number): readonly OutboxRecord[];
}

/** Number of rows per query. */
const PAGE = 100;

/**
 * Returns whether a row has expired. A row that is being sent never expires, because it may already have been sent.
 * Reconciliation determines that.
 */
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
  // If the clock was set back since the last update, the remaining wait is unknown, so the row counts as due.
  const waits = (p: Bound<{ at: number }>) =>
    sql`${and(
      isPending,
      gt(outbox.nextAt, p("at")),
      lte(outbox.updatedAt, p("at")),
      or(isNull(outbox.expiresAt), gt(outbox.expiresAt, p("at"))),
    )}`;
  return {
    due: database.query((p: Bound<{ at: number; after: number }>) =>
      db
        .select()
        .from(outbox)
        .where(and(isHead(), gt(outbox.seq, p("after")), not(waits(p))))
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
        .where(and(isHead(), isPending, lte(outbox.expiresAt, p("at"))))
        .orderBy(asc(outbox.seq)),
    ),
    nextTo: database.query((p: Bound<Destination & { seq: number }>) =>
      db
        .select()
        .from(outbox)
        .where(and(isUnsentTo(p), gt(outbox.seq, p("seq"))))
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
