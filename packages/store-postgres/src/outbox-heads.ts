import { ROW_FORMAT } from "@signalbox/store/backend";
import type { LeaseToken } from "@signalbox/store/types";
import { and, asc, eq, gt, isNull, lte, ne, not, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import type { Fence } from "./leases.ts";
import { type Destination, isTooOld, isUnsentTo, type JoinedOutbox, selectOutbox } from "./outbox-rows.ts";
import { isUnsent, type OutboxRecord, outbox } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** The first unsent row of each destination. */
export interface OutboxHeads {
  /**
   * Locks the rows that can be sent now, oldest first. Skips rows that another transaction is claiming, and those of
   * the accounts in `except`.
   */
  lockDue(
    tx: Transaction,
    lease: LeaseToken,
    limit: number,
    except: readonly Pick<Destination, "channel" | "account">[],
  ): Promise<JoinedOutbox[]>;
  /** Returns the time at which the first of the other heads is due or has expired, or null. */
  readNextAt(tx: Transaction): Promise<number | null>;
  /** Returns the expired heads and the expired rows directly behind them at the same destination. */
  readOverdue(tx: Transaction): Promise<OutboxRecord[]>;
}

const isHead: SQL = sql`(${isUnsent} AND NOT EXISTS (SELECT 1 FROM ${outbox} AS earlier
  WHERE earlier.channel = ${outbox.channel} AND earlier.account = ${outbox.account}
  AND earlier.address = ${outbox.address} AND earlier.seq < ${outbox.seq}
  AND earlier.state IN ('pending', 'sending')))`;
/** Rows of a newer format also block the rows behind them, which keep their order. */
const isReadable = lte(outbox.format, ROW_FORMAT);
const isPending = eq(outbox.state, "pending");

export function createOutboxHeads(database: Database, fence: Fence): OutboxHeads {
  const hasExpired = () => and(isPending, lte(outbox.expiresAt, database.now()));
  // If the clock was set back since the last update, the remaining wait is unknown, so the row counts as due.
  const isWaiting = () =>
    and(
      isPending,
      gt(outbox.nextAt, database.now()),
      lte(outbox.updatedAt, database.now()),
      or(isNull(outbox.expiresAt), gt(outbox.expiresAt, database.now())),
    ) ?? isPending;

  return {
    lockDue: async ({ db }, lease, limit, except) =>
      selectOutbox(db)
        .where(
          and(
            isHead,
            isReadable,
            not(isWaiting()),
            sql`${hasExpired()} IS NOT TRUE`,
            or(isPending, fence.isLost(outbox, lease)),
            ...except.map(({ channel, account }) =>
              or(ne(outbox.channel, channel), ne(outbox.account, account)),
            ),
          ),
        )
        .orderBy(asc(outbox.seq))
        .limit(limit)
        .for("update", { of: outbox, skipLocked: true }),

    async readNextAt({ db }) {
      const until = sql`CASE WHEN ${isWaiting()} THEN ${outbox.nextAt} ELSE ${database.now()} END`;
      const [row] = await db
        .select({ at: sql<number | null>`min(${until})`.mapWith(Number) })
        .from(outbox)
        .where(and(isHead, isReadable, or(isWaiting(), hasExpired())));
      return row?.at ?? null;
    },

    async readOverdue({ db, now }) {
      const at = await now;
      const heads = await db
        .select()
        .from(outbox)
        .where(and(isHead, isReadable, hasExpired()))
        .orderBy(asc(outbox.seq));
      const rows = await Promise.all(
        heads.map((head) => db.select().from(outbox).where(isUnsentTo(head)).orderBy(asc(outbox.seq))),
      );
      return rows.flatMap((unsent) => {
        const end = unsent.findIndex((row) => !isTooOld(row, at));
        return end === -1 ? unsent : unsent.slice(0, end);
      });
    },
  };
}
