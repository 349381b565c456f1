import type { StoreUnderTest } from "@signalbox/store/testkit";
import pg from "pg";
import { inject, onTestFinished, test as vitestTest } from "vitest";
import { openPostgresStore, type PostgresStoreOptions } from "../src/index.ts";

const missing = inject("postgresMissing");
if (missing !== "") console.log(`skipped: ${missing}`);

/** Vitest's `test`, which skips the tests if there is no server. */
export const test = vitestTest.skipIf(missing !== "");

let databases = 0;

/** Creates an empty database and returns its URL. The database is removed after the test. */
export async function createDatabase(): Promise<string> {
  databases += 1;
  const name = `test_${process.pid}_${databases}`;
  await administrate(`CREATE DATABASE ${name}`);
  onTestFinished(() => administrate(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  return urlOf(name);
}

const urlOf = (database: string) => inject("postgresUrl").replace(/\/\w+$/, `/${database}`);

export async function administrate(statement: string, url = inject("postgresUrl")): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A database that tests share, one after the other. To create one for each test would take longer than most tests. */
let shared: Promise<{ readonly url: string; readonly client: pg.Client }> | undefined;

async function createShared() {
  const name = `test_${process.pid}`;
  await administrate(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await administrate(`CREATE DATABASE ${name}`);
  const url = urlOf(name);
  await (await openPostgresStore({ url })).close();
  const client = new pg.Client({ connectionString: url });
  // The server stops before this process does.
  client.on("error", () => {});
  await client.connect();
  return { url, client };
}

/** Removes all rows and starts the row numbers at 1. */
const EMPTY = `DO $$ DECLARE item record; BEGIN
  FOR item IN SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace
    AND relkind IN ('r', 'S') AND relname <> 'signalbox_version' LOOP
    IF item.relkind = 'r' THEN EXECUTE format('DELETE FROM %I', item.relname);
    ELSE PERFORM setval(item.relname::regclass, 1, false); END IF;
  END LOOP; END $$`;

/** Opens an empty store with a clock that stands still until the test moves it. */
export async function openEmpty(
  options: Partial<PostgresStoreOptions> = {},
): Promise<StoreUnderTest & { readonly time: { now: number } }> {
  shared ??= createShared();
  const { url, client } = await shared;
  await client.query(EMPTY);
  const time = { now: Date.UTC(2026, 10, 21, 12) };
  const store = await openPostgresStore({ url, connections: 2, clock: () => time.now, ...options });
  return {
    store,
    time,
    now: () => time.now,
    advance: (ms) => {
      time.now += ms;
    },
  };
}
