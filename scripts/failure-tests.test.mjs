import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./workspace.mjs";

const page = readFileSync(join(root, "docs/channels.md"), "utf8");
const rows = [...page.matchAll(/^\| ([^|]+) \| \[([^\]]+)\]\(\.\.\/([^)]+\.test\.ts)\) \|$/gm)].map(
  ([, failure, title, file]) => ({ failure, title, file }),
);

it("docs/channels.md has the failures that others report", () => {
  expect(rows.length).toBeGreaterThan(15);
});

it.each(rows)("$failure: the test that docs/channels.md names is there", ({ title, file }) => {
  expect(readFileSync(join(root, file), "utf8")).toContain(`it("${title}"`);
});
