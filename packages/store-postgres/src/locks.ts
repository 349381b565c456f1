import { sql } from "drizzle-orm";
import { ONE_ROW, type Transaction } from "./transaction.ts";

/**
 * Takes locks on names until the end of the transaction, for rules about rows that may not exist yet. Sorts the names,
 * so that two transactions do not wait for each other.
 */
export function lockNames(tx: Transaction, names: readonly string[]): void {
  for (const name of [...new Set(names)].sort())
    tx.send(tx.db.select({ locked: sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))` }).from(ONE_ROW));
}
