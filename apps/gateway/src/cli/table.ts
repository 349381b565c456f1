import stringWidth from "fast-string-width";
import { print } from "./output.ts";

/** How rows are printed: each column's title and cell. */
export interface TableView<Row> {
  readonly columns: Readonly<Record<string, (row: Row) => string>>;
  /** Text for an empty table. */
  readonly none: string;
  /** Lines below the table. */
  readonly below?: readonly string[];
}

/** Prints rows: JSON for programs, a table with titles for people. */
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

/** A moment as people read it, in their own zone, to the second. */
export function time(at: number): string {
  const { year, month, day, hour, minute, second } = parts(new Date(at));
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

/** A text of at most so many characters on one line. */
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

/** Columns as wide as their widest cell; Chinese is two columns a character. */
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
