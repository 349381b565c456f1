import { type SQL, sql } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import type pg from "pg";
import { isConnectionError } from "./driver-errors.ts";
import type { PostgresTimeouts } from "./options.ts";

/** A statement that drizzle built and did not send yet. */
interface Statement {
  execute(): Promise<unknown>;
}

/**
 * A transaction. Statements are sent as soon as they are issued, so that those which do not need each other's results
 * share a round trip.
 */
export interface Transaction {
  readonly db: NodePgDatabase;
  /** The time at which the transaction began, in milliseconds, by the clock of the database. */
  readonly now: Promise<number>;
  /** Sends a statement without waiting for its result. If it fails, so does the commit. */
  send(statement: Statement): void;
  /** Sends a statement that writes and returns the number of changed rows. */
  change(statement: Statement): Promise<number>;
}

/** Identifies a transaction after its connection was lost. */
export interface TransactionId {
  /** As `pg_xact_status` takes it. */
  readonly id: string;
  /** The time at which the server started, as a text. */
  readonly serverStart: string;
}

/** A transaction that its owner has to end. */
export interface OpenTransaction {
  readonly tx: Transaction;
  readonly id: Promise<TransactionId>;
  /** Resolves with `unknown` if the connection was lost after the commit was sent. */
  commit(): Promise<"committed" | "unknown">;
  /** Never rejects. Returns the failure of the first statement that failed. */
  rollback(): Promise<unknown>;
}

export type Isolation = "READ COMMITTED" | "REPEATABLE READ READ ONLY";

export interface TransactionOptions {
  readonly timeouts: Required<PostgresTimeouts>;
  /** Replaces the database's clock, for tests. */
  readonly clock: (() => number) | undefined;
}

/** Selects expressions without a table. */
export const ONE_ROW: SQL = sql`(SELECT) AS one`;

/** The time at which the server started. A restart and a failover change it. */
const SERVER_START: SQL<string> = sql<string>`pg_postmaster_start_time()::text`;

/** The time at which the current transaction began, in milliseconds. */
export const TRANSACTION_TIME: SQL<number> =
  sql<number>`floor(extract(epoch FROM transaction_timestamp()) * 1000)::bigint`.mapWith(Number);

/**
 * Begins a transaction. Its time limits are set on the server with the same message, because a connection pooler may
 * give each transaction another connection.
 */
export function beginTransaction(
  client: pg.PoolClient,
  isolation: Isolation,
  { timeouts, clock }: TransactionOptions,
): OpenTransaction {
  const db = drizzle(client, { casing: "snake_case" });
  const sent: Promise<unknown>[] = [];

  function track<T>(result: Promise<T>): Promise<T> {
    result.catch(() => {});
    sent.push(result);
    return result;
  }

  track(
    client.query(
      `BEGIN ISOLATION LEVEL ${isolation};
       SET LOCAL idle_in_transaction_session_timeout = ${timeouts.idleInTransactionMs};
       SET LOCAL statement_timeout = ${timeouts.statementMs}`,
    ),
  );
  // Only a transaction that writes has an id.
  const id = isolation === "READ COMMITTED" ? sql<string>`pg_current_xact_id()::text` : sql<string>`''`;
  const began = track(
    db.select({ at: TRANSACTION_TIME, id, serverStart: SERVER_START }).from(ONE_ROW).execute(),
  );

  return {
    id: track(began.then(([row]) => ({ id: row?.id ?? "", serverStart: row?.serverStart ?? "" }))),
    tx: {
      db,
      now: track(began.then(([row]) => clock?.() ?? row?.at ?? Number.NaN)),
      send(statement) {
        track(statement.execute());
      },
      async change(statement) {
        const result = await track(statement.execute());
        return rowCountOf(result);
      },
    },
    async commit() {
      // Without its id, the outcome of a commit whose answer is lost could not be determined.
      await began;
      const answers = await Promise.allSettled([...sent, client.query("COMMIT")]);
      const answer = answers.at(-1);
      // The server answers COMMIT with ROLLBACK if a statement failed.
      if (answer?.status === "fulfilled" && Reflect.get(Object(answer.value), "command") === "COMMIT")
        return "committed";
      if (answer?.status === "rejected" && isConnectionError(answer.reason)) return "unknown";
      throw firstFailure(answers);
    },
    async rollback() {
      const answers = await Promise.allSettled([...sent, client.query("ROLLBACK")]);
      return firstFailure(answers);
    },
  };
}

function rowCountOf(result: unknown): number {
  const count: unknown = Reflect.get(Object(result), "rowCount");
  return typeof count === "number" ? count : 0;
}

function firstFailure(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  return answers.find((answer) => answer.status === "rejected")?.reason;
}
