import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { openStore, type SqliteStore } from "../src/index.ts";
import { begun, seed, takeLease, temporaryFolder, testStore } from "./support.ts";

const allowed = { at: 1, kind: "tool", action: "allowed", actor: "ann", subject: "exec" } as const;

/** A store that was damaged while it was closed. */
async function damagedBy(damage: (raw: Sqlite.Database, path: string) => void): Promise<SqliteStore> {
  const path = `${temporaryFolder()}/a.db`;
  const whole = await openStore({ path });
  await begun(whole, await takeLease(whole), ["hello"]);
  await whole.kv.set("cursors", "feishu/main", { at: 1 });
  await whole.audit.append({ ...allowed, details: { role: "owner" } });
  await whole.close();
  const raw = new Sqlite(path);
  damage(raw, path);
  raw.close();
  return (await testStore({ path })).store;
}

test.each<[string, string, string, (store: SqliteStore) => Promise<unknown>]>([
  ["kv", "value", "cursors/feishu/main", (store) => store.kv.get("cursors", "feishu/main")],
  ["kv", "value", "cursors/feishu/main", (store) => store.kv.list("cursors")],
  ["audit_record", "details", "1", (store) => store.audit.list()],
  ["entry", "body", "2", (store) => store.sessions.history(seed().key)],
])("a row of %s whose %s is no JSON any more is named", async (table, column, key, read) => {
  const store = await damagedBy((raw) => raw.exec(`UPDATE ${table} SET ${column} = substr(${column}, 2)`));
  const failure = await read(store).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: "corrupt",
    message: `Row "${key}" of the table ${table} is damaged: restore a backup.`,
  });
});

test("what cannot be made smaller since it is damaged is told in the store's words", async () => {
  const store = await damagedBy((raw, path) => {
    const page =
      raw.prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'kv'").pluck().get() ?? 0;
    const size = Number(raw.pragma("page_size", { simple: true }));
    raw.pragma("wal_checkpoint(TRUNCATE)");
    const file = fs.openSync(path, "r+");
    fs.writeSync(file, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size);
    fs.closeSync(file);
  });
  await expect(store.admin.vacuum()).rejects.toMatchObject({ name: "StoreError", code: "corrupt" });
});
