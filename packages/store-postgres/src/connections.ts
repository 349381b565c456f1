import { StoreError } from "@signalbox/store/errors";
import pg from "pg";
import { isConnectionError, toStoreError } from "./driver-errors.ts";
import type { PostgresStoreOptions } from "./options.ts";

/** Time limit for opening a connection or waiting for a free one, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_CONNECTIONS = 10;
/**
 * Time beyond the limit of a statement after which a connection without an answer is closed, in milliseconds. The
 * server has then aborted the statement, so the network must have dropped the answer.
 */
const ANSWER_MS = 5_000;

/** Opens a pool of connections. Statements are pipelined: each is sent without waiting for the previous one. */
export function openPool(
  { url, connections = DEFAULT_CONNECTIONS, clientName }: PostgresStoreOptions,
  statementMs: number,
): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(url, clientName),
    pipeline: true,
    max: connections,
    query_timeout: statementMs + ANSWER_MS,
  });
  // Lost connections are reported by the calls that use them, and the pool replaces idle ones. Without these listeners,
  // the events would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/**
 * Returns the configuration that all connections share.
 *
 * @throws StoreError `invalid`
 */
export function connectionConfig(url: string, clientName = "signalbox"): pg.ClientConfig {
  return {
    connectionString: checkedUrl(url),
    application_name: clientName,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
}

function checkedUrl(url: string): string {
  if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new StoreError("invalid", "The database URL is invalid. It must start with postgres://.");
}

/**
 * Opens the first connection, so that a wrong URL is reported at once.
 *
 * @throws StoreError `invalid` if the server refuses the user, the password or the database; `unreachable`
 */
export async function checkConnection(pool: pg.Pool): Promise<void> {
  try {
    await pool.query("SELECT 1");
  } catch (error) {
    if (isConnectionError(error) || !(error instanceof Error)) throw toStoreError(error);
    throw new StoreError("invalid", `The database cannot be opened: ${error.message}. Check store.url.`, {
      cause: error,
    });
  }
}
