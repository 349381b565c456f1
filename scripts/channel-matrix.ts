// What the conformance kit says of each channel stands in docs/channels.md, a column a channel. A channel's own suite
// compares its column; with UPDATE_DOCS=1 it writes it, one suite after the other.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const page = fileURLToPath(new URL("../docs/channels.md", import.meta.url));
const heading = "## What the kit says";

type Row = readonly string[];

/** For `print` of `runChannelConformance`. @throws Error where the page says otherwise */
export function inMatrix(channel: string): (printed: string) => void {
  return (printed) => {
    const outcomes = rowsOf(printed).slice(1);
    const text = readFileSync(page, "utf8");
    const [before = "", section = ""] = text.split(heading);
    const [head = [], ...rows] = rowsOf(section);
    const column = head.indexOf(channel);
    if (process.env["UPDATE_DOCS"] === "1") {
      writeFileSync(page, before + heading + written(channel, head, rows, outcomes));
      return;
    }
    for (const [group = "", check = "", outcome = ""] of outcomes) {
      const row = rows.find((one) => one[0] === group && one[1] === check);
      if (row?.[column] !== outcome)
        throw new Error(
          `docs/channels.md says of ${channel}, ${group}: ${check}: "${row?.[column] ?? "nothing"}", and it is "${outcome}". Run this suite with UPDATE_DOCS=1.`,
        );
    }
  };
}

function written(channel: string, head: Row, rows: readonly Row[], outcomes: readonly Row[]): string {
  const channels = [...new Set([...head.slice(2), channel])].toSorted();
  const lines = outcomes.map(([group = "", check = "", outcome = ""]) => {
    const row = rows.find((one) => one[0] === group && one[1] === check) ?? [];
    const cells = channels.map((name) => (name === channel ? outcome : (row[head.indexOf(name)] ?? "")));
    return [group, check, ...cells];
  });
  const table = [["", "", ...channels], ["", "", ...channels].map(() => "---"), ...lines];
  return `\n\n${table.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`;
}

/** The rows of a Markdown table, without the line under its head. */
function rowsOf(text: string): readonly Row[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\|[\s|-]+\|$/.test(line.replace(/\| +\|/g, "||")))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
}
