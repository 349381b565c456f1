import { limits } from "./limits.ts";

interface Line {
  readonly text: string;
  /** Inside a fenced code block, or one of its fences. */
  readonly code: boolean;
}

function readLines(text: string): readonly Line[] {
  let fence: string | undefined;
  return text.split("\n").map((line) => {
    const marker = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) {
      fence = marker;
      return { text: line, code: marker !== undefined };
    }
    if (marker?.startsWith(fence) === true && line.trim() === marker) fence = undefined;
    return { text: line, code: true };
  });
}

const markup = /[*_`~#>|[\]\\]|^\s*(?:[-+]|\d+[.)])\s|^\s*(?:-{3,}|={3,})\s*$/m;

/** Whether a text looks different when it is read as Markdown. */
export function hasMarkup(text: string): boolean {
  return markup.test(text);
}

/** Whether it has a heading or a table: rich texts know neither, cards know both. */
export function needsCard(text: string): boolean {
  const lines = readLines(text);
  return lines.some(
    (line, index) => !line.code && (/^ {0,3}#{1,6}\s/.test(line.text) || startsTable(lines, index)),
  );
}

function startsTable(lines: readonly Line[], index: number): boolean {
  const rule = lines[index + 1];
  if (rule === undefined || rule.code || !lines[index]?.text.includes("|") || !rule.text.includes("|"))
    return false;
  return /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/.test(rule.text);
}

/** Images by address become links: Feishu shows only images that were uploaded to it. */
export function imagesAsLinks(text: string): string {
  return readLines(text)
    .map((line) =>
      line.code ? line.text : line.text.replace(/!\[([^\]]{0,300})\]\(([^()\s]*)(?:[ \t][^()]*)?\)/g, asLink),
    )
    .join("\n");
}

function asLink(_all: string, alt: string, href: string): string {
  return `[${alt === "" ? "image" : alt}](${href})`;
}

/** Tables beyond what one Markdown element may hold are shown as they are written. */
export function fewTables(text: string): string {
  const lines = readLines(text);
  const written: string[] = [];
  let seen = 0;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined) break;
    if (line.code || !startsTable(lines, index)) {
      written.push(line.text);
      continue;
    }
    const rest = lines.slice(index).findIndex((one) => one.code || !one.text.includes("|"));
    const table = lines.slice(index, rest < 0 ? undefined : index + rest).map((one) => one.text);
    seen += 1;
    written.push(...(seen <= limits.cardTables ? table : ["```", ...table, "```"]));
    index += table.length - 1;
  }
  return written.join("\n");
}
