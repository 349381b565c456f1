import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { attackSources, PACKAGE } from "./attack-sources.ts";
import { DEFENCES } from "./defences.ts";

it("no attack on the company sign-in succeeds", () => {
  const { tried, through } = attackSources(join(PACKAGE, "src"));
  expect(through).toEqual([]);
  expect(tried).toBeGreaterThan(30);
});

it.each(DEFENCES)("the sources have the check that the proof removes: $name", ({ file, from }) => {
  expect(readFileSync(join(PACKAGE, "src", file), "utf8")).toContain(from);
});
