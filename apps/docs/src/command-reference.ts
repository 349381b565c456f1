import { type Actions, createProgram } from "@signalbox/cli";
import type { Command } from "commander";

/** The page about every command, made of the program itself. */
export function commandReference(): string {
  const program = createProgram("0.0.0", NO_ACTIONS);
  const sections = program.commands.flatMap((command) => sectionsOf(command, []));
  return `${[HEAD, ...sections].join("\n\n")}\n`;
}

const nothing = async (): Promise<void> => {};
const NO_ACTIONS: Actions = { run: () => nothing, runOn: () => nothing, runOnTwo: () => nothing };

/** Options that every command takes, told once. */
const COMMON = new Set(["--home", "--json"]);

function sectionsOf(command: Command, above: readonly string[]): string[] {
  const words = [...above, command.name()];
  if (command.commands.length > 0)
    return [
      `## ${words.join(" ")}`,
      sentence(command.description()),
      ...command.commands.flatMap((inner) => sectionsOf(inner, words)),
    ];
  const heading = above.length === 0 ? "##" : "###";
  return [
    `${heading} ${words.join(" ")}`,
    sentence(command.description()),
    ["```text", usageOf(command, above), "```"].join("\n"),
    ...optionsOf(command),
    ["For example:", "```sh", ...examplesOf(command), "```"].join("\n").replace(":\n", ":\n\n"),
  ];
}

function usageOf(command: Command, above: readonly string[]): string {
  return ["signalbox", ...above, command.name(), command.usage()].join(" ");
}

function optionsOf(command: Command): string[] {
  const help = command.createHelp();
  const parameters = command.registeredArguments.filter(({ description }) => description !== "");
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help" && !COMMON.has(long ?? ""));
  const rows = [
    ...parameters.map((parameter) => [help.argumentTerm(parameter), help.argumentDescription(parameter)]),
    ...options.map((option) => [option.flags, help.optionDescription(option)]),
  ];
  if (rows.length === 0) return [];
  const lines = rows.map(([term = "", text = ""]) => `| \`${term}\` | ${text.replaceAll("|", "\\|")} |`);
  return [["| option | meaning |", "| --- | --- |", ...lines].join("\n")];
}

/** The lines that a command's help ends with. */
function examplesOf(command: Command): string[] {
  let help = "";
  command
    .configureOutput({
      writeOut: (text) => {
        help += text;
      },
    })
    .outputHelp();
  const [, examples = ""] = help.split("Examples:\n");
  return examples
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const HEAD = `# Commands

This page is made from the program: \`UPDATE_DOCS=1 pnpm exec vitest run --project @signalbox/docs\` writes it. \`signalbox <command> --help\` says the same.

Every command takes \`--home <folder>\` (default \`$SIGNALBOX_HOME\`, or \`~/.signalbox\`) and \`--json\`, which also has failures told as JSON. With npm the program is \`npx signalbox\`, in a checkout \`npm run signalbox --\`. [Operations](operations.md#exit-codes) lists the exit codes, and \`signalbox completion\` has a shell complete commands and options.

What only reads or decides works on a running and on a stopped gateway, and makes or migrates nothing. \`send\`, \`chat\`, \`status\` and \`link\` need a running one; \`sessions reset\` and \`restore\` a stopped one. The tiers of a route are told by a running one alone. \`chat\` folds tool calls into lines and asks there about one that needs a word; with \`--json\` it prints each event on a line of its own. \`usage\` sums what vendors reported, failed attempts and summaries included, over the runs that have ended; a run that answers several people is the last one's, and money is known where its model has a price.`;
