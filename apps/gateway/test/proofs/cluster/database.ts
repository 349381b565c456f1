import { setTimeout as sleep } from "node:timers/promises";
import { openPostgresStore } from "@signalbox/store-postgres";
import { type PostgresServer, startPostgres } from "@signalbox/testkit/postgres";
import { Pool } from "pg";
import type { GatewayBodies, GatewayStore } from "../../../src/store.ts";

/** Databases of the proof, on a server that fails. */
export interface DatabaseServer {
  /** Port of the primary. */
  readonly port: () => number;
  /** The id of the primary's postmaster. */
  readonly pid: () => number;
  /** Returns the URL of a database on the primary. */
  url(database: string): string;
  /** Creates an empty database. */
  create(): Promise<ProofDatabase>;
  /** Kills the server as `pg_ctl restart -m immediate` does, and starts it again after this time. */
  restart(downMs: number): Promise<void>;
  /**
   * Adds a synchronous standby. Resolves when every commit waits for it, so that a failover loses nothing.
   *
   * @returns a function that kills the primary and promotes the standby after this time
   */
  addStandby(): Promise<(downMs: number) => Promise<void>>;
  stop(): Promise<void>;
}

/** One database. Its connections do not pass the proxies of the gateways. */
export interface ProofDatabase {
  readonly name: string;
  /** Runs a query of the proof. Repeats it while the server is away. */
  query<T extends object>(text: string, values?: readonly unknown[]): Promise<readonly T[]>;
  openStore(): Promise<GatewayStore>;
  close(): Promise<void>;
}

/** Interval between attempts to reach a server that is down, in milliseconds. */
const AGAIN_MS = 50;
/** Time limit for a server to come back, in milliseconds. */
const AWAY_MS = 120_000;
/** Name of the standby in `synchronous_standby_names`. */
const STANDBY = "standby";

let databases = 0;

/** Starts a server. Returns the reason if none can be started. */
export async function startDatabaseServer(): Promise<DatabaseServer | string> {
  const started = await startPostgres();
  if (typeof started === "string") return started;
  let primary: PostgresServer = started;
  const administration = openDatabase(() => primary, "postgres");
  return {
    port: () => primary.port,
    pid: () => primary.pid,
    url: (database) => primary.url(database),
    async create() {
      databases += 1;
      const name = `proof_${databases}`;
      await administration.query(`CREATE DATABASE ${name}`);
      return openDatabase(() => primary, name);
    },
    async restart(downMs) {
      await primary.kill();
      await sleep(downMs);
      await primary.start();
    },
    async addStandby() {
      const standby = await primary.startStandby();
      await administration.query(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
      await administration.query("SELECT pg_reload_conf()");
      await waitForSync(administration);
      return async (downMs) => {
        const before = primary;
        await before.kill();
        await sleep(downMs);
        await standby.promote();
        primary = standby;
        await before.stop();
      };
    },
    async stop() {
      await administration.close();
      await primary.stop();
    },
  };
}

/** Waits until the standby has everything that was committed before commits began to wait for it. */
async function waitForSync({ query }: ProofDatabase): Promise<void> {
  const [{ at = "" } = {}] = await query<{ at: string }>("SELECT pg_current_wal_lsn()::text AS at");
  for (;;) {
    const rows = await query<{ synced: boolean }>(
      `SELECT sync_state = 'sync' AND flush_lsn >= $1::text::pg_lsn AS synced
        FROM pg_stat_replication WHERE application_name = '${STANDBY}'`,
      [at],
    );
    if (rows.some(({ synced }) => synced)) return;
    await sleep(AGAIN_MS);
  }
}

function openDatabase(primary: () => PostgresServer, name: string): ProofDatabase {
  let pool: Pool | undefined;
  let server: PostgresServer | undefined;

  /** Returns a pool for the present primary. */
  async function getPool(): Promise<Pool> {
    if (pool !== undefined && server === primary()) return pool;
    const before = pool;
    server = primary();
    pool = new Pool({ connectionString: server.url(name), max: 3, connectionTimeoutMillis: 2_000 });
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    await before?.end();
    return pool;
  }

  return {
    name,
    async query<T extends object>(text: string, values: readonly unknown[] = []) {
      for (const deadline = performance.now() + AWAY_MS; ; await sleep(AGAIN_MS)) {
        try {
          const { rows } = await (await getPool()).query<T>(text, [...values]);
          return rows;
        } catch (error) {
          // A refused statement has a position or a table; the loss of a server has neither.
          if (isStatementError(error) || performance.now() > deadline) throw error;
        }
      }
    },
    openStore: () => openPostgresStore<GatewayBodies>({ url: primary().url(name), access: "share" }),
    async close() {
      await pool?.end();
      pool = undefined;
    },
  };
}

/** Errors of SQL syntax, missing tables and the like. */
function isStatementError(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(22|23|42)/.test(String(error.code));
}
