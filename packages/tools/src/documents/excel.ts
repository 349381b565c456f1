import { isDateFormat, toDate } from "./excel-dates.ts";
import type { OfficePackage } from "./package-reader.ts";
import type { TextOutput } from "./text-output.ts";
import { readRelations, readXml } from "./xml.ts";

/** Maximum number of columns. Further cells of a row are left out. */
const MAX_COLUMNS = 256;
/** Maximum number of empty rows that are written in a row. */
const MAX_EMPTY_ROWS = 1;

/** Writes the sheets of a workbook. Each row is a line with its number, and cells are between bars. */
export function writeExcel(file: OfficePackage, output: TextOutput): void {
  const parts = readRelations(file.read("xl/_rels/workbook.xml.rels"), "xl");
  const sheets: { readonly name: string; readonly path: string; readonly isHidden: boolean }[] = [];
  let is1904 = false;
  readXml(file.read("xl/workbook.xml"), {
    open(name, { name: sheet = "", state, date1904, ...attributes }) {
      if (name === "workbookPr") is1904 = date1904 === "1" || date1904 === "true";
      const path = name === "sheet" ? parts.get(attributes["r:id"] ?? "") : undefined;
      if (path !== undefined)
        sheets.push({ name: sheet, path, isHidden: state !== undefined && state !== "visible" });
    },
  });
  const texts = readSharedTexts(file.read("xl/sharedStrings.xml"));
  const dateStyles = readDateStyles(file.read("xl/styles.xml"));
  for (const { name, path, isHidden } of sheets) {
    output.add(`[sheet ${name}${isHidden ? ", hidden" : ""}]\n`);
    writeSheet(file.read(path), output, (cell) => formatCell(cell, texts, dateStyles, is1904));
    output.add("\n");
  }
}

interface Cell {
  readonly type: string;
  readonly style: number;
  readonly value: string;
}

function writeSheet(xml: string, output: TextOutput, format: (cell: Cell) => string): void {
  let row: string[] = [];
  let number = 0;
  let written = 0;
  let column = 0;
  let type = "n";
  let style = 0;
  let value = "";
  let isValue = false;
  readXml(xml, {
    open(name, { r: reference, t = "n", s = "0" }) {
      if (name === "row") {
        row = [];
        number = Number(reference ?? number + 1);
        column = 0;
      } else if (name === "c") {
        column = getColumn(reference) ?? column;
        [type, style, value] = [t, Number(s), ""];
      } else if (name === "v" || name === "t") isValue = true;
    },
    text(text) {
      if (isValue) value += text;
    },
    close(name) {
      if (name === "v" || name === "t") isValue = false;
      else if (name === "c") {
        if (column < MAX_COLUMNS) row[column] = format({ type, style, value });
        column += 1;
      } else if (name === "row" && row.some((cell) => (cell ?? "") !== "")) {
        if (number > written + 1 + MAX_EMPTY_ROWS) output.add("…\n");
        output.add(
          `${number} | ${Array.from(row, (cell = "") => cell.replace(/\s+/g, " ")).join(" | ")} |\n`,
        );
        written = number;
      }
    },
  });
}

/** Returns the index of the column of a reference such as `AB12`. */
function getColumn(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0];
  if (letters === undefined) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function formatCell(
  { type, style, value }: Cell,
  texts: readonly string[],
  dateStyles: ReadonlySet<number>,
  is1904: boolean,
): string {
  if (type === "s") return texts[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type === "n" && value !== "" && dateStyles.has(style)) return toDate(Number(value), is1904) ?? value;
  return value;
}

/** Reads the texts that cells refer to by index. Phonetic guides are left out. */
function readSharedTexts(xml: string): readonly string[] {
  const texts: string[] = [];
  let text = "";
  let isText = false;
  let isPhonetic = false;
  readXml(xml, {
    open(name) {
      if (name === "si") text = "";
      else if (name === "rPh") isPhonetic = true;
      else if (name === "t") isText = true;
    },
    text(piece) {
      if (isText && !isPhonetic) text += piece;
    },
    close(name) {
      if (name === "si") texts.push(text);
      else if (name === "rPh") isPhonetic = false;
      else if (name === "t") isText = false;
    },
  });
  return texts;
}

/** Returns the indices of the cell styles that show a number as a date or a time. */
function readDateStyles(xml: string): ReadonlySet<number> {
  const formats = new Map<number, string>();
  const styles = new Set<number>();
  let isCellStyle = false;
  let index = 0;
  readXml(xml, {
    open(name, { numFmtId = "0", formatCode = "" }) {
      if (name === "numFmt") formats.set(Number(numFmtId), formatCode);
      else if (name === "cellXfs") isCellStyle = true;
      else if (name === "xf" && isCellStyle) {
        if (isDateFormat(Number(numFmtId), formats.get(Number(numFmtId)))) styles.add(index);
        index += 1;
      }
    },
    close(name) {
      if (name === "cellXfs") isCellStyle = false;
    },
  });
  return styles;
}
