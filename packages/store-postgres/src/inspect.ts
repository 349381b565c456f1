import { checkConnection, openPool } from "./connections.ts";
import { createDatabase } from "./database.ts";
import { toStoreError } from "./driver-errors.ts";
import { readVersion, requireVersion } from "./migrate.ts";
import { resolveTimeouts } from "./options.ts";

/** The state of a PostgreSQL database and its server. */
export interface PostgresReport {
  /** Version of the server, such as `15.13`. */
  readonly server: string;
  /** 0 if the database has no tables of the store. */
  readonly schemaVersion: number;
  /** Size of the whole database, in bytes. */
  readonly databaseBytes: number;
  /** Time of this machine minus the time of the server, in milliseconds. */
  readonly clockSkewMs: number;
  /** True if the time limits of the store are in effect in its transactions. A connection pooler could drop them. */
  readonly hasTimeouts: boolean;
}

/**
 * Inspects a database without creating or migrating it.
 *
 * @throws StoreNewerError
 * @throws StoreError `store_older`, `invalid`, `unreachable`
 */
export async function inspectPostgres(url: string): Promise<PostgresReport> {
  const timeouts = resolveTimeouts(undefined);
  const pool = openPool({ url, connections: 1 }, timeouts.statementMs);
  try {
    await checkConnection(pool);
    const schemaVersion = await readVersion(pool);
    if (schemaVersion > 0) await requireVersion(pool);
    const database = createDatabase(pool, { timeouts, clock: undefined });
    return await database.read(async ({ db, now }) => {
      const asked = Date.now();
      const at = await now;
      const answered = Date.now();
      const { rows } = await db.execute<Row>(
        `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
           current_setting('statement_timeout') AS statement,
           current_setting('idle_in_transaction_session_timeout') AS idle`,
      );
      const [row] = rows;
      return {
        server: String(row?.version),
        schemaVersion,
        databaseBytes: Number(row?.bytes),
        clockSkewMs: Math.round((asked + answered) / 2 - at),
        hasTimeouts: row !== undefined && row.statement !== "0" && row.idle !== "0",
      };
    });
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await pool.end();
  }
}

interface Row extends Record<string, unknown> {
  readonly version: string;
  readonly bytes: string;
  readonly statement: string;
  readonly idle: string;
}
