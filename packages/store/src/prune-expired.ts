import { and, gte, inArray, lt, lte, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { approval, budgetPot, dedupe, kv, node, routeCache } from "./schema/index.ts";
import { CHUNK } from "./sweep.ts";

const dayMs = 86_400_000;
/**
 * Number of ranges into which the deduplication keys (53-bit hashes) are divided. Each range is pruned in its own
 * transaction.
 */
const keyStretches = 256;

/** Removes expired data. Methods that return a number return the number of removed rows. */
export interface Expiry {
  /** Removes deduplication keys of messages received before this time. */
  keys(before: number): Promise<number>;
  /** Removes values whose time to live ended before `at`. */
  kv(at: number): Promise<number>;
  /** Removes the spending of budget periods that ended before this time. */
  pots(before: number): Promise<void>;
  /** Removes approvals requested before this time. */
  approvals(before: number): Promise<number>;
  /** Removes routes cached before this time. A route that is still in use is resolved again. */
  routes(before: number): Promise<void>;
  /** Removes nodes that were last seen before this time. */
  nodes(before: number): Promise<void>;
}

export function createExpiry({ database, queue }: Context): Expiry {
  const { db } = database;
  const removeKeys = database.command((p: Bound<{ from: number; to: number; day: number }>) =>
    db
      .delete(dedupe)
      .where(and(gte(dedupe.key, p("from")), lt(dedupe.key, p("to")), lt(dedupe.day, p("day")))),
  );
  /** Deletes at most {@link CHUNK} rows of a table that are older than a time. */
  const removeOld = (table: SQLiteTable, key: SQLiteColumn, time: SQLiteColumn) =>
    database.command((p: Bound<{ before: number }>) => {
      const old = db
        .select({ key })
        .from(table)
        .where(lt(time, p("before")))
        .limit(CHUNK);
      return db.delete(table).where(inArray(key, old));
    });
  const removeApprovals = removeOld(approval, approval.n, approval.createdAt);
  const removeRoutes = removeOld(routeCache, routeCache.digest, routeCache.at);
  const removeNodes = removeOld(node, node.id, node.seenAt);
  const removeKv = database.command((p: Bound<{ at: number }>) => {
    const expired = db
      .select({ namespace: kv.namespace, key: kv.key })
      .from(kv)
      .where(lte(kv.expiresAt, p("at")))
      .limit(CHUNK);
    return db.delete(kv).where(sql`(${kv.namespace}, ${kv.key}) IN ${expired}`);
  });
  /** A month's period sorts before the periods of its days. `usage` has its own sums. */
  const removePots = database.command((p: Bound<{ before: string }>) =>
    db.delete(budgetPot).where(lt(budgetPot.period, p("before"))),
  );

  /** Repeats `removeSome` until it removes fewer rows than a full chunk. */
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
    async nodes(before) {
      await inChunks(() => removeNodes.run({ before }).changes);
    },
  };
}
