import type { Command } from "commander";
import { expect, it } from "vitest";
import type { Actions } from "../../src/cli/definitions/command.ts";
import { createProgram } from "../../src/cli/program.ts";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** Commands that do nothing but tell that they were understood. */
function listening(): { actions: Actions; understood: () => number } {
  let runs = 0;
  const count = async (): Promise<void> => {
    runs += 1;
  };
  return { actions: { run: () => count, runOn: () => count, runOnTwo: () => count }, understood: () => runs };
}

it("every command takes --home and --json", () => {
  const leaves = leavesOf(createProgram("1.0.0", listening().actions));
  expect(leaves.length).toBeGreaterThan(20);
  for (const leaf of leaves)
    expect(
      leaf.options.map(({ long }) => long),
      leaf.name(),
    ).toEqual(expect.arrayContaining(["--home", "--json"]));
});

it.each([
  [["--home", "/a", "--json", "status"], "/a"],
  [["config", "--home", "/a", "--json", "check"], "/a"],
  [["--home", "/a", "status", "--home", "/b", "--json"], "/b"],
])("takes its common options before a command, too: %j", async (argv, home) => {
  const taken: unknown[] = [];
  const run: Actions["run"] = () => async (options) => void taken.push(options);
  const { actions } = listening();
  await createProgram("1.0.0", { ...actions, run }).parseAsync(argv, { from: "user" });
  expect(taken).toEqual([expect.objectContaining({ home, json: true })]);
});

it("tells a mistake in the command line as JSON where that is asked for", async () => {
  const { err, code } = await runCommand(hostWith(), "messages", "--json", "--limit", "none");
  expect(code).toBe(64);
  expect(JSON.parse(err)).toEqual({
    error: { message: expect.stringContaining("Expected a whole number of at least 1."), exitCode: 64 },
  });
});

it("shows how a command is used", async () => {
  expect((await runCommand(hostWith(), "why", "--help")).out).toContain("Examples:\n  signalbox why\n");
});

it("every command has examples, and understands them", async () => {
  const commands = leavesOf(createProgram("1.0.0", listening().actions)).filter(
    (leaf) => !["help", "completion"].includes(leaf.name()),
  );
  for (const leaf of commands) {
    let help = "";
    leaf.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const examples = (help.split("Examples:\n")[1] ?? "").trim().split("\n").filter(Boolean);
    expect(examples.length, leaf.name()).toBeGreaterThan(0);
    for (const example of examples) {
      const { actions, understood } = listening();
      const [words = ""] = example.trim().split(" > ");
      const argv = (words.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
      await createProgram("1.0.0", actions).parseAsync(argv.slice(1), { from: "user" });
      expect(understood(), example).toBe(1);
    }
  }
});
