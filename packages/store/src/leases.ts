import { and, asc, eq, gt } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { FencedError } from "./errors.ts";
import { getTakenFrom, isSameLease } from "./lease-token.ts";
import { type LeaseRecord, lease } from "./schema/index.ts";
import type { LeaseToken } from "./types/common.ts";
import type { Lease, LeaseStore } from "./types/leases.ts";

/** Checks leases inside the transactions of other stores. */
export interface Fence {
  /** @throws FencedError unless `token` has the current epoch of its lease */
  check(token: LeaseToken): void;
  /**
   * Returns whether a lease was released, was taken under a later epoch, or has expired. The `asker`'s own lease never
   * counts as lost, because the asker is still working on its messages even if its lease has expired.
   */
  lost(token: LeaseToken, asker?: LeaseToken): boolean;
  /** Clears the leases cached in this transaction. */
  forget(): void;
}

/** Reads each lease once per transaction, because no other process can write a lease during the transaction. */
export function createFence({ database, queue, now }: Context): Fence {
  const byName = database.query((p: Bound<{ name: string }>) =>
    database.db
      .select()
      .from(lease)
      .where(eq(lease.name, p("name"))),
  );
  const read = new Map<string, LeaseRecord | undefined>();
  let transaction = -1;

  function current(name: string): LeaseRecord | undefined {
    if (transaction !== queue.transaction) {
      read.clear();
      transaction = queue.transaction;
    }
    if (!read.has(name)) read.set(name, byName.get({ name }));
    return read.get(name);
  }

  return {
    check({ name, epoch }) {
      const held = current(name);
      if (held?.epoch === epoch) return;
      const after = held === undefined ? "it does not exist" : `it is at epoch ${held.epoch}`;
      throw new FencedError(name, epoch, `The lease "${name}" of epoch ${epoch} is not current: ${after}.`);
    },
    lost(token, asker) {
      if (isSameLease(asker, token)) return false;
      const held = current(token.name);
      return held?.epoch !== token.epoch || held.expiresAt <= now();
    },
    forget: () => read.clear(),
  };
}

export function createLeaseStore({ database, queue, now }: Context, fence: Fence): LeaseStore {
  const { db } = database;
  const byName = database.query((p: Bound<{ name: string }>) =>
    db
      .select()
      .from(lease)
      .where(eq(lease.name, p("name"))),
  );
  const held = database.query(() =>
    db.select().from(lease).where(gt(lease.expiresAt, 0)).orderBy(asc(lease.name)),
  );
  const put = database.replace(lease, [lease.name]);
  const prolong = database.command((p: Bound<{ name: string; epoch: number; expiresAt: number }>) =>
    db
      .update(lease)
      .set({ expiresAt: p("expiresAt") })
      .where(and(eq(lease.name, p("name")), eq(lease.epoch, p("epoch")))),
  );

  return {
    acquire: (name, holder, ttlMs) =>
      queue.write(() => {
        const before = byName.get({ name });
        if (before !== undefined && before.holder !== holder && before.expiresAt > now()) return undefined;
        const epoch = (before?.epoch ?? 0) + 1;
        const taken: Lease = { name, holder, epoch, acquiredAt: now(), expiresAt: now() + ttlMs };
        put.run(taken);
        fence.forget();
        return { ...taken, ...getTakenFrom(before, holder) };
      }),
    renew: (leases, ttlMs) =>
      queue.write(() => {
        const expiresAt = now() + ttlMs;
        const kept = leases.flatMap(({ name, epoch }) =>
          prolong.run({ name, epoch, expiresAt }).changes === 0 ? [] : (byName.get({ name }) ?? []),
        );
        fence.forget();
        return kept;
      }),
    release: ({ name, epoch }) =>
      queue.write(() => {
        if (byName.get({ name })?.epoch !== epoch) return;
        // Raise the epoch, so that late writes by the previous holder are rejected even if nobody has taken the lease
        // yet.
        put.run({ name, holder: "", epoch: epoch + 1, acquiredAt: 0, expiresAt: 0 });
        fence.forget();
      }),
    list: () => queue.read(() => held.all().map((row) => ({ ...row, isExpired: row.expiresAt <= now() }))),
  };
}
