import type { Logger, Millis, StoreAccess, StoreLimits } from "@signalbox/store/types";

/** Time limits that apply to each transaction on the server, in milliseconds. */
export interface PostgresTimeouts {
  /** Time limit for one statement, including the time that it waits for locks. Default: 15,000. */
  readonly statementMs?: number;
  /**
   * Time after which the server aborts a transaction whose process sends nothing. A suspended process keeps its locks
   * for this long. Default: 5,000.
   */
  readonly idleInTransactionMs?: number;
}

const DEFAULT_STATEMENT_MS = 15_000;
const DEFAULT_IDLE_IN_TRANSACTION_MS = 5_000;

/** Returns the time limits with their defaults. */
export function resolveTimeouts({
  statementMs = DEFAULT_STATEMENT_MS,
  idleInTransactionMs = DEFAULT_IDLE_IN_TRANSACTION_MS,
}: PostgresTimeouts = {}): Required<PostgresTimeouts> {
  return { statementMs, idleInTransactionMs };
}

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of `pg`, such as `sslmode`. */
  readonly url: string;
  /**
   * `own`: creates the tables or migrates them to this version. `share` and `read`: refuse a database of another
   * version. Default: `own`.
   */
  readonly access?: StoreAccess;
  /** Maximum number of connections. Default: 10. */
  readonly connections?: number;
  /** Name of the connections in `pg_stat_activity`. Default: `signalbox`. */
  readonly clientName?: string;
  readonly timeouts?: PostgresTimeouts;
  /**
   * False sends hints to this process only, for servers and poolers without `LISTEN`. Other processes then find new
   * work when they poll. Default: true.
   */
  readonly hints?: boolean;
  readonly limits?: Pick<StoreLimits, "inbox">;
  /** Logs migrations. Default: none. */
  readonly logger?: Pick<Logger, "info" | "warn">;
  /** Replaces the database's clock, for tests. */
  readonly clock?: () => Millis;
  /** Returns a number in [0, 1) for ids. Default: the system's cryptographic source. */
  readonly random?: () => number;
}
