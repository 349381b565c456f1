// docs/channels.md contains a table with the results of the conformance suite and one column for each channel. A
// channel's tests compare its column, or write it if UPDATE_DOCS=1 is set. Update one channel at a time.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const page = fileURLToPath(new URL("../docs/channels.md", import.meta.url));
const heading = "## Conformance results";

type Row = readonly string[];

/**
 * Returns a `print` function for `runChannelConformance`.
 *
 * @throws Error if the page contains other results
 */
export function inMatrix(channel: string): (printed: string) => void {
  return (printed) => {
    const outcomes = parseRows(printed).slice(1);
    const text = readFileSync(page, "utf8");
    const [before = "", section = ""] = text.split(heading);
    const [head = [], ...rows] = parseRows(section);
    const column = head.indexOf(channel);
    if (process.env["UPDATE_DOCS"] === "1") {
      writeFileSync(page, before + heading + createTable(channel, head, rows, outcomes));
      return;
    }
    for (const [group = "", check = "", outcome = ""] of outcomes) {
      const row = rows.find((one) => one[0] === group && one[1] === check);
      if (row?.[column] !== outcome)
        throw new Error(
          `In docs/channels.md, the result of ${channel} for "${group}: ${check}" is "${row?.[column] ?? ""}", but it must be "${outcome}". Run the tests of this channel with UPDATE_DOCS=1.`,
        );
    }
  };
}

function createTable(channel: string, head: Row, rows: readonly Row[], outcomes: readonly Row[]): string {
  const channels = [...new Set([...head.slice(2), channel])].toSorted();
  const lines = outcomes.map(([group = "", check = "", outcome = ""]) => {
    const row = rows.find((one) => one[0] === group && one[1] === check) ?? [];
    const cells = channels.map((name) => (name === channel ? outcome : (row[head.indexOf(name)] ?? "")));
    return [group, check, ...cells];
  });
  const table = [["", "", ...channels], ["", "", ...channels].map(() => "---"), ...lines];
  return `\n\n${table.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`;
}

/** Parses the rows of a Markdown table, without the delimiter row. */
function parseRows(text: string): readonly Row[] {
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
