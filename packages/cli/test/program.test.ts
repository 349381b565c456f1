import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "../src/program.ts";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

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

it("tells a mistake in the command line as JSON where that is asked for", async () => {
  const { err, code } = await runCommand(hostWith(), "messages", "--json", "--limit", "none");
  expect(code).toBe(64);
  expect(JSON.parse(err)).toEqual({
    error: { message: expect.stringContaining("Write a whole number from 1 on."), exitCode: 64 },
  });
});

it("shows how a command is used", async () => {
  expect((await runCommand(hostWith(), "why", "--help")).out).toContain("Examples:\n  signalbox why\n");
});
