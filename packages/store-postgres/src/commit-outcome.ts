import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "@signalbox/store/errors";
import type pg from "pg";
import { isConnectionError } from "./driver-errors.ts";
import type { TransactionId } from "./transaction.ts";

/** Time limit for determining the outcome of a commit, in milliseconds. */
const TIME_LIMIT_MS = 60_000;
const RETRY_DELAY_MS = 100;

/**
 * Returns true if a transaction was committed whose connection was lost during its commit. Waits until the server can
 * be reached and has ended the transaction.
 *
 * @throws StoreError `io` if the outcome cannot be determined in time, or not at all
 */
export async function wasCommitted(pool: pg.Pool, transaction: TransactionId): Promise<boolean> {
  const deadline = performance.now() + TIME_LIMIT_MS;
  while (performance.now() < deadline) {
    const found = await readStatus(pool, transaction.id);
    const isSameServer = found?.serverStart === transaction.serverStart;
    // If the server crashed before it wrote anything of this transaction, it gives the id to another transaction, which
    // may be committed, in progress or aborted. The id of a committed transaction is never given out again.
    if (found !== undefined && !isSameServer) {
      if (found.status === "committed") break;
      return false;
    }
    if (found?.status === "committed") return true;
    if (found?.status === "aborted") return false;
    await sleep(RETRY_DELAY_MS);
  }
  throw new StoreError(
    "io",
    "The connection to the database was lost during a commit, and it is unknown whether the server committed. " +
      "Start the gateway again once the database can be reached.",
  );
}

interface FoundStatus {
  readonly status: unknown;
  readonly serverStart: unknown;
}

/** Returns undefined if the server cannot be reached. */
async function readStatus(pool: pg.Pool, id: string): Promise<FoundStatus | undefined> {
  try {
    const { rows } = await pool.query(
      "SELECT pg_xact_status($1::text::xid8) AS status, pg_postmaster_start_time()::text AS server_start",
      [id],
    );
    const row = Object(rows[0]);
    return { status: Reflect.get(row, "status"), serverStart: Reflect.get(row, "server_start") };
  } catch (error) {
    if (isConnectionError(error)) return undefined;
    // After a failover to a server that never received the transaction, its id is in the future.
    if (error instanceof Error && error.message.includes("is in the future"))
      return { status: "aborted", serverStart: undefined };
    throw error;
  }
}
