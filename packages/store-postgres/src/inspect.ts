import { sql } from "drizzle-orm";
import { checkConnection, openPool } from "./connections.ts";
import { createDatabase } from "./database.ts";
import { toStoreError } from "./driver-errors.ts";
import { readVersion, requireVersion } from "./migrate.ts";
import { resolveTimeouts } from "./options.ts";
import { ONE_ROW } from "./transaction.ts";

/** The state of a PostgreSQL database and its server. */
export interface PostgresReport {
  /** Version of the server, such as `15.13`. */
  readonly server: string;
  /** Version of the server as a number, such as 150013. */
  readonly serverNumber: number;
  /** 0 if the database has no tables of the store. */
  readonly schemaVersion: number;
  /** Size of the whole database, in bytes. */
  readonly databaseBytes: number;
  /** Time of this machine minus the time of the server, in milliseconds. */
  readonly clockSkewMs: number;
  /** True if the time limits of the store are in effect in its transactions. A connection pooler could drop them. */
  readonly hasTimeouts: boolean;
  /** True if the server is a standby, which accepts no writes. */
  readonly isStandby: boolean;
  /** Settings of the server that can lose acknowledged data if it crashes, such as `fsync = off`. */
  readonly unsafeSettings: readonly string[];
  readonly hasAutovacuum: boolean;
  /**
   * Age of the oldest transaction that keeps autovacuum from removing rows, in milliseconds. Includes prepared
   * transactions. Sessions of other users count only if the user may see them (`pg_read_all_stats`).
   */
  readonly oldestSnapshotMs: number;
  /** Names of standbys from `synchronous_standby_names`. Empty if commits do not wait for a standby. */
  readonly synchronousStandbys: string;
}

/** Names of settings and the values with which a commit is durable. */
const SAFE_SETTINGS = {
  fsync: ["on"],
  full_page_writes: ["on"],
  synchronous_commit: ["on", "local", "remote_write", "remote_apply"],
};

const SETTINGS = [
  "server_version",
  "server_version_num",
  "statement_timeout",
  "idle_in_transaction_session_timeout",
  "autovacuum",
  "track_counts",
  "synchronous_standby_names",
  ...Object.keys(SAFE_SETTINGS),
];

const OLDEST_SNAPSHOT =
  sql<number>`(SELECT coalesce(max(extract(epoch FROM clock_timestamp() - since) * 1000), 0)::bigint
  FROM (SELECT xact_start AS since FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
    UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()) AS snapshots)`.mapWith(
    Number,
  );

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
      const [row] = await db
        .select({
          bytes: sql<number>`pg_database_size(current_database())`.mapWith(Number),
          isStandby: sql<boolean>`pg_is_in_recovery()`,
          oldestSnapshotMs: OLDEST_SNAPSHOT,
          settings: sql<Record<string, string>>`(SELECT json_object_agg(name, current_setting(name))
            FROM unnest(ARRAY[${sql.join(
              SETTINGS.map((name) => sql`${name}`),
              sql`, `,
            )}]) AS name)`,
        })
        .from(ONE_ROW);
      const settings = row?.settings ?? {};
      const isOn = (name: string): boolean => settings[name] === "on";
      return {
        server: settings["server_version"] ?? "",
        serverNumber: Number(settings["server_version_num"]),
        schemaVersion,
        databaseBytes: row?.bytes ?? 0,
        clockSkewMs: Math.round((asked + answered) / 2 - at),
        hasTimeouts:
          settings["statement_timeout"] !== "0" && settings["idle_in_transaction_session_timeout"] !== "0",
        isStandby: row?.isStandby === true,
        unsafeSettings: Object.entries(SAFE_SETTINGS).flatMap(([name, values]) =>
          values.includes(settings[name] ?? "") ? [] : [`${name} = ${settings[name]}`],
        ),
        hasAutovacuum: isOn("autovacuum") && isOn("track_counts"),
        oldestSnapshotMs: row?.oldestSnapshotMs ?? 0,
        synchronousStandbys: settings["synchronous_standby_names"] ?? "",
      };
    });
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await pool.end();
  }
}
