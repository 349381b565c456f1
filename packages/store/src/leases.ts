import type { Context } from "./context.ts";
import { FencedError } from "./errors.ts";
import type { LeaseRecord } from "./records.ts";
import type { LeaseToken } from "./types/common.ts";
import type { Lease, LeaseStore } from "./types/leases.ts";

/** Checks leases inside other people's transactions. */
export interface Fence {
  /** @throws FencedError unless `token` is of the present epoch of its name */
  check(token: LeaseToken): void;
  /** Was this stamp's lease released, taken by a later epoch, or has it run out? */
  lost(token: LeaseToken): boolean;
  /** Forgets what was read in this transaction. */
  forget(): void;
}

/** Reads each lease once in a transaction: nobody else can write one while it lasts. */
export function createFence({ database, queue, now }: Context): Fence {
  const byName = database.query<[string], LeaseRecord>("SELECT * FROM lease WHERE name = ?");
  const known = new Map<string, LeaseRecord | undefined>();
  let transaction = -1;

  function current(name: string): LeaseRecord | undefined {
    if (transaction !== queue.transaction) {
      known.clear();
      transaction = queue.transaction;
    }
    if (!known.has(name)) known.set(name, byName.get(name));
    return known.get(name);
  }

  return {
    check({ name, epoch }) {
      const lease = current(name);
      if (lease?.epoch === epoch) return;
      const after = lease === undefined ? "it does not exist" : `it is at epoch ${lease.epoch}`;
      throw new FencedError(name, epoch, `The lease "${name}" of epoch ${epoch} is not current: ${after}.`);
    },
    lost({ name, epoch }) {
      const lease = current(name);
      return lease?.epoch !== epoch || lease.expires_at <= now();
    },
    forget: () => known.clear(),
  };
}

export function createLeaseStore({ database, queue, now }: Context, fence: Fence): LeaseStore {
  const byName = database.query<[string], LeaseRecord>("SELECT * FROM lease WHERE name = ?");
  const put = database.command<[string, string, number, number]>(
    "INSERT OR REPLACE INTO lease (name, holder, epoch, expires_at) VALUES (?, ?, ?, ?)",
  );
  const prolong = database.command<[number, string, number]>(
    "UPDATE lease SET expires_at = ? WHERE name = ? AND epoch = ?",
  );

  const toLease = (row: LeaseRecord): Lease => ({
    name: row.name,
    epoch: row.epoch,
    holder: row.holder,
    expiresAt: row.expires_at,
  });

  return {
    acquire: (name, holder, ttlMs) =>
      queue.write(() => {
        const held = byName.get(name);
        if (held !== undefined && held.holder !== holder && held.expires_at > now()) return undefined;
        const epoch = (held?.epoch ?? 0) + 1;
        const expiresAt = now() + ttlMs;
        put.run(name, holder, epoch, expiresAt);
        fence.forget();
        return { name, epoch, holder, expiresAt };
      }),
    renew: (leases, ttlMs) =>
      queue.write(() => {
        const expiresAt = now() + ttlMs;
        const kept: Lease[] = [];
        for (const { name, epoch } of leases) {
          if (prolong.run(expiresAt, name, epoch) === 0) continue;
          const row = byName.get(name);
          if (row !== undefined) kept.push(toLease(row));
        }
        fence.forget();
        return kept;
      }),
    release: ({ name, epoch }) =>
      queue.write(() => {
        if (byName.get(name)?.epoch !== epoch) return;
        // A step of the epoch: what its holder still writes by mistake is refused, though nobody took the name yet.
        put.run(name, "", epoch + 1, 0);
        fence.forget();
      }),
    get: (name) =>
      queue.read(() => {
        const row = byName.get(name);
        return row === undefined || row.expires_at <= 0 ? undefined : toLease(row);
      }),
  };
}
