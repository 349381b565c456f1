import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "../src/program.ts";
import { hostWith } from "./host.ts";

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

it("every command takes --home and --json", () => {
  const leaves = leavesOf(createProgram(hostWith()));
  expect(leaves.length).toBeGreaterThan(20);
  for (const leaf of leaves)
    expect(
      leaf.options.map(({ long }) => long),
      leaf.name(),
    ).toEqual(expect.arrayContaining(["--home", "--json"]));
});
