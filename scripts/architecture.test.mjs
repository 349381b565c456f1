import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./workspace.mjs";

const text = readFileSync(join(root, "docs", "architecture.md"), "utf8");
const files = [...text.matchAll(/`((?:apps|packages|scripts)\/[^`\s]+)`/g)].map(([, path]) => path);

it("docs/architecture.md names files that exist", () => {
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it("docs/architecture.md says where to make fifteen changes", () => {
  const table = text.slice(text.indexOf("## Where to change what"));
  const rows = table.split("\n").filter((line) => line.startsWith("| ") && line.includes("`"));
  expect(rows).toHaveLength(15);
});
