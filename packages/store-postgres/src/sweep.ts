import { type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Database } from "./database.ts";
import type { Transaction } from "./transaction.ts";

/** Maximum number of rows to remove in one transaction. */
const CHUNK = 250;

/** Rows to remove. */
export interface Sweep {
  readonly table: PgTable;
  readonly goes: SQL | undefined;
  /** Columns that {@link alsoRemove} needs. */
  readonly key: Readonly<Record<string, PgColumn>>;
  /** Removes rows of other tables that belong to the removed ones. */
  readonly alsoRemove?: (tx: Transaction, removed: readonly Readonly<Record<string, unknown>>[]) => void;
}

/**
 * Removes rows in short transactions and returns their number. Skips rows that another transaction has locked.
 */
export async function sweep(database: Database, { table, goes, key, alsoRemove }: Sweep): Promise<number> {
  let removed = 0;
  for (;;) {
    const some = await database.write(async (tx) => {
      const chunk = sql`SELECT ctid FROM ${table} WHERE ${goes} LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED`;
      const rows = await tx.db
        .delete(table)
        .where(sql`ctid = ANY(ARRAY(${chunk}))`)
        .returning({ ...key });
      if (rows.length > 0) alsoRemove?.(tx, rows);
      return rows.length;
    });
    removed += some;
    if (some < CHUNK) return removed;
  }
}
