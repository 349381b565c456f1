import { lt, lte } from "drizzle-orm";
import type { Database } from "./database.ts";
import { approval, budgetPot, dedupe, kv, node, routeCache } from "./schema/index.ts";
import { sweep } from "./sweep.ts";

const dayMs = 86_400_000;

/** Removes expired data. Each method returns the number of removed rows. */
export interface Expiry {
  /** Removes deduplication keys of messages received before this time. */
  keys(before: number): Promise<number>;
  /** Removes values whose time to live ended before `at`. */
  kv(at: number): Promise<number>;
  /** Removes the spending of budget periods that ended before this time. */
  pots(before: number): Promise<number>;
  /** Removes approvals requested before this time. */
  approvals(before: number): Promise<number>;
  /** Removes routes cached before this time. A route that is still in use is resolved again. */
  routes(before: number): Promise<number>;
  /** Removes nodes that were last seen before this time. */
  nodes(before: number): Promise<number>;
}

export function createExpiry(database: Database): Expiry {
  return {
    keys: (before) =>
      sweep(database, {
        table: dedupe,
        key: { key: dedupe.key },
        goes: lt(dedupe.day, Math.floor(before / dayMs)),
      }),
    kv: (at) => sweep(database, { table: kv, key: { key: kv.key }, goes: lte(kv.expiresAt, at) }),
    pots: (before) => {
      // A month's period sorts before the periods of its days.
      const month = new Date(before).toISOString().slice(0, 7);
      const goes = lt(budgetPot.period, month);
      return sweep(database, { table: budgetPot, key: { period: budgetPot.period }, goes });
    },
    approvals: (before) =>
      sweep(database, { table: approval, key: { n: approval.n }, goes: lt(approval.createdAt, before) }),
    routes: (before) =>
      sweep(database, {
        table: routeCache,
        key: { digest: routeCache.digest },
        goes: lt(routeCache.at, before),
      }),
    nodes: (before) => sweep(database, { table: node, key: { id: node.id }, goes: lt(node.seenAt, before) }),
  };
}
