import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "@signalbox/store/errors";
import type pg from "pg";
import { isConnectionError } from "./driver-errors.ts";

/** Time limit for determining the outcome of a commit, in milliseconds. */
const TIME_LIMIT_MS = 60_000;
const RETRY_DELAY_MS = 100;

/**
 * Returns whether a transaction was committed whose connection was lost during its commit. Waits until the server can
 * be reached and has ended the transaction.
 *
 * @throws StoreError `io` if the outcome cannot be determined in time
 */
export async function wasCommitted(pool: pg.Pool, transactionId: string): Promise<boolean> {
  const deadline = performance.now() + TIME_LIMIT_MS;
  while (performance.now() < deadline) {
    const status = await readStatus(pool, transactionId);
    if (status === "committed") return true;
    if (status === "aborted") return false;
    await sleep(RETRY_DELAY_MS);
  }
  throw new StoreError(
    "io",
    "The connection to the database was lost during a commit, and it is unknown whether the server committed. " +
      "Start the gateway again once the database can be reached.",
  );
}

/** Returns undefined if the transaction has not ended or the server cannot be reached. */
async function readStatus(pool: pg.Pool, transactionId: string): Promise<unknown> {
  try {
    const { rows } = await pool.query("SELECT pg_xact_status($1::text::xid8) AS status", [transactionId]);
    return Reflect.get(Object(rows[0]), "status");
  } catch (error) {
    if (isConnectionError(error)) return undefined;
    // After a failover to a server that never received the transaction, its id is in the future.
    if (error instanceof Error && error.message.includes("is in the future")) return "aborted";
    throw error;
  }
}
