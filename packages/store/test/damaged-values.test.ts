import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { openStore, type SqliteStore } from "../src/index.ts";
import { begun, seed, takeLease, temporaryFolder, testStore } from "./support.ts";

const allowed = { at: 1, kind: "tool", action: "allowed", actor: "ann", subject: "exec" } as const;

const question = (id: string) => ({ id, sessionKey: "s", hash: id, state: "pending", createdAt: 1 }) as const;

/** A store that was damaged while it was closed. */
async function damagedBy(damage: (raw: Sqlite.Database, path: string) => void): Promise<SqliteStore> {
  const path = `${temporaryFolder()}/a.db`;
  const whole = await openStore({ path });
  await begun(whole, await takeLease(whole), ["hello"]);
  await whole.kv.set("cursors", "feishu/main", { at: 1 });
  await whole.kv.set("cursors", "slack/main", { at: 2 });
  for (const id of ["lost", "whole"]) await whole.approvals.ask(question(id), 5);
  const said = (id: string) => ({ id, senderId: "ann", body: "hi", at: 1 });
  for (const id of ["lost", "whole"]) await whole.groupHistory.push("g", said(id));
  const told = ["lost", "whole"].map((id) => ({ ...said(id), conversation: "g" }));
  await whole.contexts.put("s", [{ seq: 1, text: "", told, recalled: "", forOwner: true }]);
  for (const stage of ["lost", "whole"]) {
    await whole.traces.append("m", [{ stage, data: 1 }]);
    await whole.traces.read("m");
  }
  await whole.routes.put("c", [
    { digest: "lost", route: 1 },
    { digest: "whole", route: 2 },
  ]);
  await whole.audit.append({ ...allowed, details: { role: "owner" } });
  await whole.close();
  const raw = new Sqlite(path);
  damage(raw, path);
  raw.close();
  return (await testStore({ path })).store;
}

/** Leaves no JSON in a column. */
const cut =
  (table: string, column: string, where = "true") =>
  (raw: Sqlite.Database) =>
    raw.exec(`UPDATE ${table} SET ${column} = substr(${column}, 2) WHERE ${where}`);

test.each<[string, string, string, (store: SqliteStore) => Promise<unknown>]>([
  ["kv", "value", "cursors/feishu/main", (store) => store.kv.get("cursors", "feishu/main")],
  ["audit_record", "details", "1", (store) => store.audit.list()],
  ["entry", "body", "2", (store) => store.sessions.history(seed().key)],
])("an error names a row of %s with damaged %s", async (table, column, key, read) => {
  const store = await damagedBy(cut(table, column));
  const failure = await read(store).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: "corrupt",
    message: `Row "${key}" of the table ${table} is damaged: restore a backup.`,
  });
});

test("a damaged value does not hide others in its namespace", async () => {
  const store = await damagedBy(cut("kv", "value", "key = 'feishu/main'"));
  expect(await store.kv.list("cursors")).toEqual([
    { key: "feishu/main", value: null },
    { key: "slack/main", value: { at: 2 } },
  ]);
});

test.each<[string, string, string, string, (store: SqliteStore) => Promise<unknown>]>([
  ["of a group", "group_history", "body", "entry_id = 'lost'", (store) => store.groupHistory.list("g")],
  [
    "told beside a message",
    "told_history",
    "body",
    "entry_id = 'lost'",
    async (store) => (await store.contexts.from("s", 1))[0]?.told,
  ],
  ["of a trace", "trace", "entries", "n = 1", (store) => store.traces.read("m")],
  ["of the routes", "route_cache", "route", "digest = 'lost'", (store) => store.routes.load("c")],
])("a list omits a damaged row %s and keeps the others", async (_, table, column, where, read) => {
  expect(await read(await damagedBy(() => {}))).toHaveLength(2);
  expect(await read(await damagedBy(cut(table, column, where)))).toHaveLength(1);
});

test("a session with damaged data can be used and has null as data", async () => {
  const store = await damagedBy((raw) => raw.exec("UPDATE session SET data = '{'"));
  expect(await store.sessions.list()).toMatchObject([{ key: seed().key, data: null }]);
  expect(await store.sessions.get(seed().key)).toMatchObject({ data: null });
});

test("a damaged approval request does not block others", async () => {
  const store = await damagedBy(cut("approval", "question", "id = 'lost'"));
  expect(await store.approvals.list()).toMatchObject([{ id: "whole" }]);
  expect(await store.approvals.get("lost")).toBeUndefined();
  expect(await store.approvals.ask({ ...question("again"), hash: "lost" }, 2)).toMatchObject({
    outcome: "asked",
  });
});

/** Leaves nothing readable of a table. */
const shred = (table: string) => (raw: Sqlite.Database, path: string) => {
  const page = raw.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").pluck().get(table);
  const size = Number(raw.pragma("page_size", { simple: true }));
  raw.pragma("wal_checkpoint(TRUNCATE)");
  const file = fs.openSync(path, "r+");
  fs.writeSync(file, Buffer.alloc(size, 0xff), 0, size, (Number(page) - 1) * size);
  fs.closeSync(file);
};

test("vacuum of a damaged file rejects with a StoreError", async () => {
  const store = await damagedBy(shred("kv"));
  await expect(store.admin.vacuum()).rejects.toMatchObject({ name: "StoreError", code: "corrupt" });
});

test("a damaged table does not prevent pruning of the others", async () => {
  const store = await damagedBy(shred("trace"));
  await expect(store.maintenance.prune()).rejects.toMatchObject({ code: "corrupt" });
  expect(await store.approvals.list()).toEqual([]);
});
