import pg from "pg";
import { expect, onTestFinished } from "vitest";
import { inspectPostgres, openPostgresStore } from "../src/index.ts";
import { createDatabase, test } from "./support.ts";

test("an inspection reports versions, settings, clocks and the oldest snapshot", async () => {
  const url = await createDatabase();
  expect((await inspectPostgres(url)).schemaVersion).toBe(0);
  await (await openPostgresStore({ url })).close();
  const report = await inspectPostgres(url);
  expect(report.serverNumber).toBeGreaterThanOrEqual(150_000);
  expect(report.server).toMatch(/^\d+/);
  expect(report.schemaVersion).toBeGreaterThan(0);
  expect(report.databaseBytes).toBeGreaterThan(1_000_000);
  expect(Math.abs(report.clockSkewMs)).toBeLessThan(60_000);
  expect(report).toMatchObject({
    hasTimeouts: true,
    isStandby: false,
    hasAutovacuum: true,
    synchronousStandbys: "",
  });
});

test("an old snapshot of another session is reported", async () => {
  const url = await createDatabase();
  const client = new pg.Client({ connectionString: url });
  // The database is removed while the transaction is open.
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end().catch(() => {}));
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await client.query("SELECT count(*) FROM pg_class");
  await client.query("SELECT pg_sleep(0.2)");
  expect((await inspectPostgres(url)).oldestSnapshotMs).toBeGreaterThanOrEqual(200);
});

test("settings with which a crash loses acknowledged commits are reported", async () => {
  const url = new URL(await createDatabase());
  url.searchParams.set("options", "-c synchronous_commit=off");
  expect((await inspectPostgres(url.href)).unsafeSettings).toContain("synchronous_commit = off");
});
