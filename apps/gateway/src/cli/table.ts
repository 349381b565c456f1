import stringWidth from "fast-string-width";
import { print } from "./output.ts";

/** Columns of a table: titles, and functions that return the cells. */
export interface TableView<Row> {
  readonly columns: Readonly<Record<string, (row: Row) => string>>;
  /** Text shown for an empty table. */
  readonly none: string;
  /** Lines shown below the table. */
  readonly below?: readonly string[];
}

/** Prints rows as JSON or as a table with titles. */
export function printTable<Row>(
  json: boolean | undefined,
  rows: readonly Row[],
  { columns, none, below = [] }: TableView<Row>,
): void {
  print(json, rows, () => {
    if (rows.length === 0) return [none];
    const titles = Object.keys(columns);
    const cells = rows.map((row) => Object.values(columns).map((cellOf) => oneLine(cellOf(row))));
    return [...aligned([titles, ...cells]), ...below];
  });
}

/** Formats a time in the local time zone, to the second. */
export function time(at: number): string {
  const { year, month, day, hour, minute, second } = parts(new Date(at));
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

/** Shortens a string to one line with a maximum number of characters. */
export function short(text: string, most: number): string {
  const line = oneLine(text);
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join("")}…`;
}

function parts(date: Date): Readonly<Record<string, string>> {
  const two = (number: number): string => String(number).padStart(2, "0");
  return {
    year: String(date.getFullYear()),
    month: two(date.getMonth() + 1),
    day: two(date.getDate()),
    hour: two(date.getHours()),
    minute: two(date.getMinutes()),
    second: two(date.getSeconds()),
  };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Pads columns to the width of their widest cell. A Chinese character takes two columns. */
export function aligned(lines: readonly (readonly string[])[]): string[] {
  const widths = lines.reduce<number[]>(
    (widest, cells) => cells.map((cell, column) => Math.max(widest[column] ?? 0, stringWidth(cell))),
    [],
  );
  return lines.map((cells) =>
    cells
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - stringWidth(cell)))
      .join("  ")
      .trimEnd(),
  );
}
