import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { dedupeKey } from "../src/dedupe-keys.ts";
import { openStore, StoreError, StoreNewerError } from "../src/index.ts";
import {
  accepted,
  answered,
  event,
  LATEST_VERSION,
  seed,
  takeLease,
  temporaryFolder,
  testStore,
} from "./support.ts";

const firstMigration = new URL("../migrations/0000_start.sql", import.meta.url);
const migrator = fileURLToPath(new URL("children/migrator.ts", import.meta.url));

test("data survives closing and opening", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const first = await openStore({ path });
  const id = await accepted(first, "one");
  await first.close();
  const { store } = await testStore({ path });
  expect(await store.inbox.get(id)).toMatchObject({ payload: { text: "one" }, state: "queued" });
});

test("closing removes the log files, and later calls reject", async () => {
  const folder = temporaryFolder();
  const store = await openStore({ path: `${folder}/a.db` });
  await accepted(store, "one");
  const last = store.kv.set("a", "b", 1);
  await Promise.all([store.close(), store.close()]);
  await last;
  expect(fs.readdirSync(folder)).toEqual(["a.db"]);
  await expect(store.kv.get("a", "b")).rejects.toMatchObject({ code: "closed" });
  await expect(store.kv.set("a", "b", 1)).rejects.toMatchObject({ code: "closed" });
});

test("the file is accessible to its owner only", async () => {
  const path = `${temporaryFolder()}/a.db`;
  await (await openStore({ path })).close();
  expect(fs.statSync(path).mode & 0o777).toBe(0o600);
});

test("a database of a newer version is refused with file, versions and remedy", async () => {
  const path = `${temporaryFolder()}/a.db`;
  await (await openStore({ path })).close();
  const raw = new Sqlite(path);
  raw.pragma("user_version = 99");
  raw.close();
  const error = await openStore({ path }).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(StoreNewerError);
  expect(error).toMatchObject({
    code: "store_newer",
    file: path,
    fileVersion: 99,
    supportedVersion: LATEST_VERSION,
  });
  expect(String(error)).toContain("99");
  expect(String(error)).toContain("newer release");
});

test.each([0, 99])(
  "a database of another program is refused unchanged, whatever its version (%i)",
  async (version) => {
    const path = `${temporaryFolder()}/a.db`;
    const raw = new Sqlite(path);
    raw.exec("CREATE TABLE theirs (a)");
    raw.pragma(`user_version = ${version}`);
    raw.close();
    await expect(openStore({ path })).rejects.toMatchObject({ code: "corrupt" });
    const again = new Sqlite(path);
    expect(again.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "theirs" }]);
    again.close();
  },
);

test("a database with missing columns is refused unchanged", async () => {
  const path = `${temporaryFolder()}/a.db`;
  const raw = new Sqlite(path);
  raw.exec(fs.readFileSync(firstMigration, "utf8"));
  raw.exec("DROP TABLE approval");
  raw.pragma("application_id = 0x53474258");
  raw.pragma("user_version = 1");
  const refused = openStore({ path });
  await expect(refused).rejects.toMatchObject({ code: "corrupt" });
  await expect(refused).rejects.toThrow("schema version 1, and has no column n in its table approval");
  expect(raw.pragma("user_version", { simple: true })).toBe(1);
  raw.close();
});

test("a file that is not a database, or cannot be created, is refused", async () => {
  const folder = temporaryFolder();
  fs.writeFileSync(`${folder}/a.db`, "not a database, but long enough to be looked at as one ".repeat(40));
  await expect(openStore({ path: `${folder}/a.db` })).rejects.toMatchObject({ code: "corrupt" });
  const missing = openStore({ path: `${folder}/missing/a.db` });
  await expect(missing).rejects.toBeInstanceOf(StoreError);
  await expect(missing).rejects.toMatchObject({ code: "invalid" });
  await expect(missing).rejects.toThrow("Check that its folder exists");
});

/** A database as the first version left it, with an answered message and what a day used. */
async function databaseOfFirstVersion(): Promise<string> {
  const path = `${temporaryFolder()}/a.db`;
  const first = await openStore({ path });
  const lease = await takeLease(first);
  await answered(first, lease, "one");
  await first.close();
  const raw = new Sqlite(path);
  raw.exec(
    "DROP TABLE told_history; DROP TABLE message_context; DROP TABLE budget_pot; DROP TABLE budget_reservation; DROP TABLE node; DROP TABLE usage_model_day; ALTER TABLE lease DROP COLUMN acquired_at; DROP INDEX session_peer; DROP INDEX inbox_session; DROP TABLE usage_day; ALTER TABLE run DROP COLUMN sender",
  );
  const [usageDay = ""] =
    /CREATE TABLE `usage_day` .*?;/s.exec(fs.readFileSync(firstMigration, "utf8")) ?? [];
  raw.exec(
    "DELETE FROM dedupe; CREATE TABLE dedupe_mark (one integer PRIMARY KEY NOT NULL, seq integer NOT NULL) STRICT; ALTER TABLE inbox ADD COLUMN event_key integer NOT NULL DEFAULT 0; ALTER TABLE inbox ADD COLUMN message_key integer",
  );
  const [eventKey, messageKey] = (["event", "message"] as const).map(
    (kind) => dedupeKey(kind, "feishu", "main", kind === "event" ? "ev-one" : "om-one").hash,
  );
  raw.prepare("UPDATE inbox SET event_key = ?, message_key = ?").run(eventKey, messageKey);
  raw.exec(`${usageDay} INSERT INTO usage_day VALUES ('2026-11-20', 'coder', 's', 2, 3, 100, 10, 40, 5, 77)`);
  raw.pragma("user_version = 1");
  raw.close();
  return path;
}

async function expectUpToDate(path: string): Promise<void> {
  const said: unknown[] = [];
  const store = await openStore({ path, logger: { info: (fields) => said.push(fields), warn() {} } });
  onTestFinished(() => store.close());
  expect(said).toEqual([{ from: 1, to: LATEST_VERSION, path }]);
  expect(await store.sessions.list({ channel: "feishu", peer: "ou_1" })).toHaveLength(1);
  expect(await store.usage.sum({ by: "sender", sessionKey: "s" })).toMatchObject([
    { by: "", runs: 2, inputTokens: 100, cacheReadTokens: 40, costMicros: 77 },
  ]);
  expect(await store.usage.sum({ by: "model", sessionKey: "s" })).toMatchObject([
    { by: "", runs: 2, inputTokens: 100, cacheReadTokens: 40, costMicros: 77 },
  ]);
  expect(await store.usage.sum({ by: "session", sessionKey: seed().key })).toMatchObject([
    { runs: 1, modelCalls: 1, inputTokens: 10, outputTokens: 5, costMicros: 7 },
  ]);
  for (const again of [
    { ...event("one"), messageId: "other" },
    { ...event("one"), eventId: "other" },
  ])
    expect(await store.inbox.accept(again)).toMatchObject({ outcome: "duplicate" });
  expect((await store.admin.file()).version).toBe(LATEST_VERSION);
}

test("a database of the first version is migrated with its data, which is logged", async () => {
  await expectUpToDate(await databaseOfFirstVersion());
});

test.each([1, 3, LATEST_VERSION - 1])(
  "a migration that is killed after step %i changes nothing and can be repeated",
  async (step) => {
    const path = await databaseOfFirstVersion();
    const { signal } = spawnSync(process.execPath, [migrator, path, String(step)]);
    expect(signal).toBe("SIGKILL");
    const raw = new Sqlite(path);
    expect(raw.pragma("user_version", { simple: true })).toBe(1);
    raw.close();
    await expectUpToDate(path);
  },
);
