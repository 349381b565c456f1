import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const files = globSync("*.ts", { cwd: import.meta.dirname }).filter((file) => !file.endsWith(".test.ts"));

/** Returns the source of a file without comments. */
function code(file: string): string {
  const text = readFileSync(`${import.meta.dirname}/${file}`, "utf8");
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
}

it("only agent-loop.ts emits events and commits entries", () => {
  const doers = files.filter((file) => /\b(emit|EmitEvent|onJournalEntry|commit)\b/.test(code(file)));
  expect(doers).toEqual(["agent-loop.ts"]);
});

it("parts of the loop never receive a whole run", () => {
  const parts = files.filter((file) => !["agent-loop.ts", "run-state.ts"].includes(file));
  const takers = parts.filter((file) =>
    /(?<!Pick<\s*)\bRunState\b/.test(code(file).replace(/^import.*$/gm, "")),
  );
  expect(parts.length).toBeGreaterThan(10);
  expect(takers).toEqual([]);
});
