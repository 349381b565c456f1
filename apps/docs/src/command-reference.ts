import { type Actions, createProgram } from "@signalbox/gateway/cli";
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

This page lists every command; \`signalbox <command> --help\` says the same. Installed with npm, the program is \`npx signalbox\`; in a checkout it is \`npm run signalbox --\`.

Every command takes \`--home <folder>\` (default \`$SIGNALBOX_HOME\`, or \`~/.signalbox\`) and \`--json\`, which prints failures as JSON, too. [Operations](operations.md#exit-codes) lists the exit codes. \`signalbox completion\` prints shell completion for commands and options.

- Commands that only read or decide work with a running and with a stopped gateway. They create and migrate nothing.
- \`send\`, \`chat\`, \`status\` and \`link\` need a running gateway; \`sessions reset\` and \`restore\` a stopped one. Only a running gateway shows the tiers of a route.
- \`chat\` folds tool calls into lines, and asks there about a call that needs an approval. With \`--json\` it prints each event on a line of its own.
- \`usage\` sums what vendors reported, failed attempts and summaries included, over the runs that have ended. A run that answers several people counts for the last one. Cost is known for models with a price.

> Generated from the program. To update it, run \`UPDATE_DOCS=1 pnpm exec vitest run --project @signalbox/docs\`.`;
