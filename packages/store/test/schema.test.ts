import { execFile } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { openStore } from "../src/index.ts";
import { temporaryFolder } from "./support.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));

async function made(): Promise<Sqlite.Database> {
  const path = `${temporaryFolder()}/a.db`;
  await (await openStore({ path })).close();
  return new Sqlite(path, { readonly: true });
}

test("the migrations create the schema", async () => {
  const out = join(temporaryFolder(), "migrations");
  fs.cpSync(join(folder, "migrations"), out, { recursive: true });
  const before = fs.readdirSync(out);
  const generate = ["drizzle-kit", "generate", "--dialect", "sqlite", "--casing", "snake_case"];
  await promisify(execFile)(
    "pnpm",
    ["exec", ...generate, "--schema", "./src/schema/index.ts", "--out", out],
    {
      cwd: folder,
    },
  );
  expect(fs.readdirSync(out)).toEqual(before);
});

test("tables are strict, and those without an integer key have no row id", async () => {
  const raw = await made();
  const tables = raw
    .prepare<[], { name: string; wr: number; strict: number }>(
      "SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  const numbered = raw
    .prepare<[], { name: string }>(
      `SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
       WHERE m.type = 'table' AND c.pk > 0 GROUP BY m.name HAVING count(*) = 1 AND max(c.type) = 'INTEGER'`,
    )
    .all()
    .map(({ name }) => name);
  expect(tables.length).toBeGreaterThan(15);
  for (const { name, wr, strict } of tables) {
    expect({ name, strict, wr }).toEqual({ name, strict: 1, wr: numbered.includes(name) ? 0 : 1 });
  }
  raw.close();
});
