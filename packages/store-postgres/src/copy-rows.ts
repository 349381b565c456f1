import type { StoredRow } from "@signalbox/store";
import type pg from "pg";
import { escapeText } from "./schema/columns.ts";

/** Maximum number of rows in one statement. */
const BATCH = 200;

type Value = string | number | boolean | Buffer | null | readonly number[];
type Row = Readonly<Record<string, Value>>;

/** Inserts rows, which all have the same columns, and returns how many there were. */
export async function insertRows(client: pg.ClientBase, table: string, rows: Iterable<Row>): Promise<number> {
  let inserted = 0;
  let batch: Row[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH) continue;
    inserted += await insertBatch(client, table, batch);
    batch = [];
  }
  return inserted + (await insertBatch(client, table, batch));
}

async function insertBatch(client: pg.ClientBase, table: string, rows: readonly Row[]): Promise<number> {
  const [first] = rows;
  if (first === undefined) return 0;
  const columns = Object.keys(first);
  const values = rows.flatMap((row) => columns.map((column) => toParameter(row[column] ?? null)));
  const places = rows.map(
    (_, row) => `(${columns.map((__, column) => `$${row * columns.length + column + 1}`).join(", ")})`,
  );
  const names = columns.map((column) => `"${column}"`).join(", ");
  const { rowCount } = await client.query(
    `INSERT INTO "${table}" (${names}) VALUES ${places.join(", ")} ON CONFLICT DO NOTHING`,
    values,
  );
  return rowCount ?? 0;
}

const toParameter = (value: Value): Value => (typeof value === "string" ? escapeText(value) : value);

/** Returns the row with other values, and without the columns that are undefined. */
export function withColumns(row: StoredRow, changes: Readonly<Record<string, Value | undefined>>): Row {
  const entries = Object.entries({ ...row, ...changes });
  return Object.fromEntries(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined));
}
