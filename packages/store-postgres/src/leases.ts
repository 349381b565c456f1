import { getTakenFrom } from "@signalbox/store/backend";
import { FencedError } from "@signalbox/store/errors";
import type { Lease, LeaseStore, LeaseToken } from "@signalbox/store/types";
import { and, asc, eq, getTableColumns, gt, ne, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Database } from "./database.ts";
import { lease } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** The columns of a lease stamp. */
interface Stamp {
  readonly leaseName: SQLWrapper;
  readonly leaseEpoch: SQLWrapper;
}

/** Checks leases inside the transactions of other stores. */
export interface Fence {
  /**
   * Locks the lease against a change of its holder until the end of the transaction. Renewals do not wait for this
   * lock, and it does not wait for them.
   *
   * @throws FencedError unless `token` has the current epoch of its lease
   */
  check(tx: Transaction, token: LeaseToken): Promise<void>;
  /**
   * A condition: the stamped lease was released, was taken under a later epoch, or has expired. The lease of `asker`
   * never counts as lost, because the asker is still working on its rows even if its lease has expired.
   */
  isLost(stamp: Stamp, asker?: LeaseToken): SQL;
}

export function createFence(database: Database): Fence {
  return {
    async check({ db }, { name, epoch }) {
      const [held] = await db
        .select({ epoch: lease.epoch })
        .from(lease)
        .where(eq(lease.name, name))
        .for("key share");
      if (held?.epoch === epoch) return;
      const after = held === undefined ? "it does not exist" : `it is at epoch ${held.epoch}`;
      throw new FencedError(name, epoch, `The lease "${name}" of epoch ${epoch} is not current: ${after}.`);
    },
    isLost({ leaseName, leaseEpoch }, asker) {
      const isValid = sql`EXISTS (SELECT 1 FROM ${lease} AS held WHERE held.name = ${leaseName}
        AND held.epoch = ${leaseEpoch} AND held.expires_at > ${database.now()})`;
      if (asker === undefined) return sql`(NOT ${isValid})`;
      const isOwn = sql`(${leaseName} = ${asker.name} AND ${leaseEpoch} = ${asker.epoch})`;
      return sql`(NOT ${isValid} AND ${isOwn} IS NOT TRUE)`;
    },
  };
}

export function createLeaseStore({ database }: Context): LeaseStore {
  /** Gateways often request leases that others hold. This query finds them without locks. */
  async function isHeldByOther(name: string, holder: string): Promise<boolean> {
    const isOther = and(eq(lease.name, name), ne(lease.holder, holder), gt(lease.expiresAt, database.now()));
    const rows = await database.query((db) => db.select({ name: lease.name }).from(lease).where(isOther));
    return rows.length > 0;
  }

  return {
    async acquire(name, holder, ttlMs) {
      if (await isHeldByOther(name, holder)) return undefined;
      return database.write(async ({ db, now }) => {
        // Waits for the writes under this lease that are in progress.
        const locked = db.select().from(lease).where(eq(lease.name, name)).for("update");
        const [[before], at] = await Promise.all([locked, now]);
        if (before !== undefined && before.holder !== holder && before.expiresAt > at) return undefined;
        // If a failover lost the latest epochs, the time keeps them from being given out again.
        const epoch = Math.max((before?.epoch ?? 0) + 1, at);
        const taken: Lease = { name, holder, epoch, acquiredAt: at, expiresAt: at + ttlMs };
        const values = db.insert(lease).values(taken);
        const inserted =
          before === undefined
            ? await values.onConflictDoNothing().returning()
            : await values.onConflictDoUpdate({ target: lease.name, set: taken }).returning();
        // Another holder may have acquired a new name in the meantime.
        return inserted[0] && { ...inserted[0], ...getTakenFrom(before, holder) };
      }, `lease ${name}`);
    },

    renew: (leases, ttlMs) =>
      database.write(async ({ db }) => {
        if (leases.length === 0) return [];
        const kept = await db
          .update(lease)
          .set({ expiresAt: sql`${database.now()} + ${ttlMs}` })
          .where(or(...leases.map(isToken)))
          .returning();
        return leases.flatMap(({ name }) => kept.filter((row) => row.name === name));
      }),

    release: (token) =>
      database.write(async ({ db, send }) => {
        // Raise the epoch, so that late writes by the previous holder are rejected even if the lease was not taken
        // yet.
        const released = { holder: "", epoch: token.epoch + 1, acquiredAt: 0, expiresAt: 0 };
        send(db.update(lease).set(released).where(isToken(token)));
      }, `lease ${token.name}`),

    list: () =>
      database.query((db) =>
        db
          .select({
            ...getTableColumns(lease),
            isExpired: sql<boolean>`${lease.expiresAt} <= ${database.now()}`,
          })
          .from(lease)
          .where(gt(lease.expiresAt, 0))
          .orderBy(asc(lease.name)),
      ),
  };
}

const isToken = ({ name, epoch }: LeaseToken): SQL | undefined =>
  and(eq(lease.name, name), eq(lease.epoch, epoch));
