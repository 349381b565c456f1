import { sql } from "drizzle-orm";
import type { Transaction } from "./transaction.ts";

const SEQUENCES = { inbox: "inbox_seq_seq", outbox: "outbox_seq_seq", run: "run_n_seq" } as const;

/**
 * Reserves row numbers before the rows are inserted, so that other rows can refer to them in the same round trip.
 * Numbers of transactions that are rolled back are not used again.
 */
export async function reserveNumbers(
  tx: Transaction,
  table: keyof typeof SEQUENCES,
  count: number,
): Promise<readonly number[]> {
  if (count === 0) return [];
  const rows = await tx.db
    .select({ n: sql`nextval(${SEQUENCES[table]}::regclass)`.mapWith(Number) })
    .from(sql`generate_series(1, ${count}::int)`);
  return rows.map(({ n }) => n);
}
