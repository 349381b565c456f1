import { and, gte, inArray, lt, lte, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { approval, budgetPot, dedupe, kv, routeCache } from "./schema/index.ts";
import { CHUNK } from "./sweep.ts";

const dayMs = 86_400_000;
/** The keys against redelivery are hashes of 53 bits; so many stretches of them are looked through one by one. */
const keyStretches = 256;

/** Removes what has had its time. Each gives how many it removed. */
export interface Expiry {
  /** Keys against redelivery of messages that came before this. */
  keys(before: number): Promise<number>;
  /** Keyed values that were to be kept until now at the longest. */
  kv(at: number): Promise<number>;
  /** What was spent of budgets in periods that ended before this. */
  pots(before: number): Promise<void>;
  /** Approvals that were asked for before this. */
  approvals(before: number): Promise<number>;
  /** Routes that were worked out before this: where one is still used, it is worked out again. */
  routes(before: number): Promise<void>;
}

export function createExpiry({ database, queue }: Context): Expiry {
  const { db } = database;
  const removeKeys = database.command((p: Bound<{ from: number; to: number; day: number }>) =>
    db.delete(dedupe).where(and(gte(dedupe.key, p.from), lt(dedupe.key, p.to), lt(dedupe.day, p.day))),
  );
  /** Some of those rows of a table that are of a time before this. */
  const removeOld = (table: SQLiteTable, key: SQLiteColumn, time: SQLiteColumn) =>
    database.command((p: Bound<{ before: number }>) => {
      const old = db.select({ key }).from(table).where(lt(time, p.before)).limit(CHUNK);
      return db.delete(table).where(inArray(key, old));
    });
  const removeApprovals = removeOld(approval, approval.n, approval.createdAt);
  const removeRoutes = removeOld(routeCache, routeCache.digest, routeCache.at);
  const removeKv = database.command((p: Bound<{ at: number }>) => {
    const expired = db
      .select({ namespace: kv.namespace, key: kv.key })
      .from(kv)
      .where(lte(kv.expiresAt, p.at))
      .limit(CHUNK);
    return db.delete(kv).where(sql`(${kv.namespace}, ${kv.key}) IN ${expired}`);
  });
  /** The period of a month sorts before its days. What `usage` sums is kept elsewhere. */
  const removePots = database.command((p: Bound<{ before: string }>) =>
    db.delete(budgetPot).where(lt(budgetPot.period, p.before)),
  );

  /** Removes some at a time, until nothing is left. */
  async function inChunks(removeSome: () => number): Promise<number> {
    let removed = 0;
    for (;;) {
      const some = await queue.write(removeSome);
      removed += some;
      if (some < CHUNK) return removed;
    }
  }

  return {
    async keys(before) {
      const day = Math.floor(before / dayMs);
      const stretch = 2 ** 53 / keyStretches;
      let removed = 0;
      for (let i = 0; i < keyStretches; i += 1) {
        const keys = { from: i * stretch, to: (i + 1) * stretch, day };
        removed += await queue.write(() => removeKeys.run(keys).changes);
      }
      return removed;
    },
    kv: (at) => inChunks(() => removeKv.run({ at }).changes),
    async pots(before) {
      const month = new Date(before).toISOString().slice(0, 7);
      await queue.write(() => removePots.run({ before: month }));
    },
    approvals: (before) => inChunks(() => removeApprovals.run({ before }).changes),
    async routes(before) {
      await inChunks(() => removeRoutes.run({ before }).changes);
    },
  };
}
