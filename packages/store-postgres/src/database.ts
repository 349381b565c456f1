import { setTimeout as sleep } from "node:timers/promises";
import { isStoreError, StoreError } from "@signalbox/store/errors";
import { type SQL, sql } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import type pg from "pg";
import { wasCommitted } from "./commit-outcome.ts";
import { isConflict, isConnectionError, toStoreError } from "./driver-errors.ts";
import { createOrder } from "./order.ts";
import {
  beginTransaction,
  type Isolation,
  TRANSACTION_TIME,
  type Transaction,
  type TransactionOptions,
} from "./transaction.ts";

/** Maximum number of attempts for a transaction that conflicts with others. */
const MAX_CONFLICTS = 10;
/** Maximum number of attempts for a transaction that loses its connection. */
const MAX_CONNECTIONS_LOST = 3;
/** Maximum delay before the second attempt, in milliseconds. Later delays are multiples. */
const RETRY_DELAY_MS = 50;

type Work<T> = (tx: Transaction) => Promise<T>;

/** The connections and the transactions on them. */
export interface Database {
  /** Runs one statement that reads. */
  query<T>(build: (db: NodePgDatabase) => PromiseLike<T>): Promise<T>;
  /** Runs statements that read and that see the same state of the database. */
  read<T>(work: Work<T>): Promise<T>;
  /**
   * Runs a transaction and resolves when it is durable. Repeats it after a conflict or a lost connection, so `work`
   * must not have other effects.
   *
   * @param order calls with the same value run one after the other, in the order of the calls
   */
  write<T>(work: Work<T>, order?: string): Promise<T>;
  /** The time at which the transaction began, in milliseconds, by the clock of the database. */
  now(): SQL<number>;
  readonly counts: { readonly commits: number; readonly calls: number; readonly syncs: number };
  /** Waits for the calls in progress, then closes the connections. */
  close(): Promise<void>;
}

/** Creates the only way to the database. Failures of the driver become store errors. */
export function createDatabase(pool: pg.Pool, options: TransactionOptions): Database {
  const { clock } = options;
  const counts = { commits: 0, calls: 0, syncs: 0 };
  const inOrder = createOrder();
  const db = drizzle(pool, { casing: "snake_case" });
  const calls = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Runs a transaction once. If the answer to its commit is lost, asks the server for the outcome. */
  async function runOnce<T>(isolation: Isolation, work: Work<T>): Promise<T> {
    const client = await pool.connect();
    const { tx, id, commit, rollback } = beginTransaction(client, isolation, options);
    let result: T;
    try {
      result = await work(tx);
    } catch (error) {
      const cause = await rollback();
      client.release(isConnectionError(error) || isConnectionError(cause));
      // The statements after a failed one only report that the transaction is aborted.
      throw isStoreError(error) ? error : (cause ?? error);
    }
    const outcome = await commit().catch((error: unknown) => {
      client.release(isConnectionError(error));
      throw error;
    });
    client.release(outcome === "unknown");
    const isLost = outcome === "unknown" && isolation === "READ COMMITTED";
    if (isLost && !(await wasCommitted(pool, await id)))
      throw new Error("Connection terminated unexpectedly");
    return result;
  }

  async function writeOnce<T>(work: Work<T>): Promise<T> {
    const result = await runOnce("READ COMMITTED", work);
    counts.commits += 1;
    counts.syncs += 1;
    return result;
  }

  async function call<T>(attempt: () => Promise<T>): Promise<T> {
    if (closing !== undefined) throw new StoreError("closed", "The store was closed.");
    counts.calls += 1;
    const result = attempt();
    calls.add(result);
    try {
      return await result;
    } catch (error) {
      throw toStoreError(error);
    } finally {
      calls.delete(result);
    }
  }

  async function close(): Promise<void> {
    await Promise.allSettled(calls);
    await pool.end();
  }

  return {
    counts,
    now: () => (clock === undefined ? TRANSACTION_TIME : sql<number>`${clock()}::bigint`),
    query: (build) => call(() => repeat(async () => build(db))),
    read: (work) => call(() => repeat(() => runOnce("REPEATABLE READ READ ONLY", work))),
    write: (work, order) =>
      call(() => {
        const attempt = () => repeat(() => writeOnce(work));
        return order === undefined ? attempt() : inOrder(order, attempt);
      }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Repeats a transaction that was rolled back because of a conflict or a lost connection. */
async function repeat<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries >= maxAttempts(error)) throw error;
      await sleep(Math.random() * RETRY_DELAY_MS * tries);
    }
  }
}

function maxAttempts(error: unknown): number {
  if (isConflict(error)) return MAX_CONFLICTS;
  return isConnectionError(error) ? MAX_CONNECTIONS_LOST : 1;
}
