import fs from "node:fs";
import Sqlite from "better-sqlite3";
import { getTableConfig, SQLiteSyncDialect, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { expect, test } from "vitest";
import { openStore } from "../src/index.ts";
import * as schema from "../src/schema.ts";
import { temporaryFolder } from "./support.ts";

interface Column {
  name: string;
  type: string;
  notNull: boolean;
  primaryKey: boolean;
}

interface Index {
  name: string;
  unique: boolean;
  columns: string[];
  where: string;
}

interface Table {
  name: string;
  columns: Column[];
  indexes: Index[];
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
const plain = (sql: string) => sql.replaceAll(/\s+/g, " ").replaceAll('"', "").trim();

function drizzleTable(table: SQLiteTable): Table {
  const config = getTableConfig(table);
  const composite = config.primaryKeys.flatMap((key) => key.columns.map((column) => column.name));
  const dialect = new SQLiteSyncDialect();
  return {
    name: config.name,
    columns: config.columns.map((column) => ({
      name: column.name,
      type: column.getSQLType().toUpperCase(),
      notNull: column.notNull,
      primaryKey: column.primary || composite.includes(column.name),
    })),
    indexes: config.indexes
      .map(({ config: index }) => ({
        name: index.name,
        unique: index.unique,
        columns: index.columns.map((column) => ("name" in column ? column.name : "?")),
        where: index.where === undefined ? "" : plain(dialect.sqlToQuery(index.where).sql),
      }))
      .sort(byName),
  };
}

function databaseTables(raw: Sqlite.Database): Table[] {
  const names = raw
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  return names.map(({ name }) => ({
    name,
    columns: raw
      .prepare<[], { name: string; type: string; notnull: number; pk: number }>(`PRAGMA table_info(${name})`)
      .all()
      .map((column) => ({
        name: column.name,
        type: column.type,
        // A row number is never NULL, though its column does not say so.
        notNull: column.notnull === 1 || (column.pk > 0 && column.type === "INTEGER"),
        primaryKey: column.pk > 0,
      })),
    indexes: raw
      .prepare<[], { name: string; sql: string }>(
        `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = '${name}'`,
      )
      .all()
      .map((index) => ({
        name: index.name,
        unique: index.sql.startsWith("CREATE UNIQUE"),
        columns: raw
          .prepare<[], { name: string }>(`PRAGMA index_info(${index.name})`)
          .all()
          .map((column) => column.name),
        where: plain(index.sql.split(" WHERE ")[1] ?? ""),
      }))
      .sort(byName),
  }));
}

test("the migrations make the tables that drizzle describes", async () => {
  const path = `${temporaryFolder()}/a.db`;
  await (await openStore({ path })).close();
  const raw = new Sqlite(path, { readonly: true });
  const described = Object.values(schema).map(drizzleTable).sort(byName);
  expect(databaseTables(raw).sort(byName)).toEqual(described);
  raw.close();
});

test("only types are taken from drizzle, which is slow to load", () => {
  const folder = new URL("../src/", import.meta.url);
  const importers = fs
    .readdirSync(folder)
    .filter((file) => file.endsWith(".ts"))
    .filter((file) =>
      /^import (?!type).*(drizzle-orm|schema\.ts)/m.test(fs.readFileSync(new URL(file, folder), "utf8")),
    );
  expect(importers).toEqual(["schema.ts"]);
});
