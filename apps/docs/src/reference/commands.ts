import { type Actions, createProgram } from "@signalbox/gateway/cli";
import type { Command } from "commander";

/** A group of commands, which has a page. */
interface CommandGroup {
  readonly route: string;
  readonly title: string;
  readonly commands: readonly string[];
}

const GROUPS: readonly CommandGroup[] = [
  {
    route: "service",
    title: "Set up and run",
    commands: ["init", "start", "status", "link", "logs", "doctor", "service", "completion"],
  },
  { route: "configuration", title: "Configuration", commands: ["config", "models"] },
  {
    route: "conversations",
    title: "Conversations",
    commands: ["chat", "send", "messages", "why", "trace", "prompt", "sessions", "outbox", "cron", "usage"],
  },
  {
    route: "access",
    title: "Access and approvals",
    commands: ["pairing", "tokens", "approvals", "trust", "can", "audit"],
  },
  { route: "agents", title: "Agents", commands: ["skills", "mcp", "memory"] },
];

/** Commands that no group names are on this page. */
const OTHERS = { route: "maintenance", title: "Data and maintenance" } as const;

/**
 * Creates the pages about the command line from the program itself: an index, and a page for each group.
 *
 * @returns the pages by their path in `docs`
 */
export function createCommandPages(): ReadonlyMap<string, string> {
  const { commands } = createProgram("0.0.0", NO_ACTIONS);
  const named = new Set(GROUPS.flatMap((group) => group.commands));
  const groups = [
    ...GROUPS,
    { ...OTHERS, commands: commands.map((each) => each.name()).filter((name) => !named.has(name)) },
  ].map((group) => ({ ...group, commands: commands.filter((each) => group.commands.includes(each.name())) }));
  const index = groups.flatMap(({ route, title, commands: members }) => [
    `## ${title}`,
    createIndex(route, members),
  ]);
  return new Map([
    ["commands.md", `${[HEAD, ...index].join("\n\n")}\n`],
    ...groups.map(({ route, title, commands: members }): [string, string] => [
      `commands/${route}.md`,
      `${[`# Commands: ${title.charAt(0).toLowerCase()}${title.slice(1)}`, GROUP_HEAD, ...members.flatMap((command) => createSections(command, []))].join("\n\n")}\n`,
    ]),
  ]);
}

function createIndex(route: string, commands: readonly Command[]): string {
  const rows = commands.flatMap((command) => {
    const inner = command.commands.length > 0 ? command.commands : [command];
    return inner.map((each) => {
      const name = each === command ? each.name() : `${command.name()} ${each.name()}`;
      return `| [\`${name}\`](commands/${route}.md#${name.replaceAll(" ", "-")}) | ${toSentence(each.description())} |`;
    });
  });
  return ["| command | purpose |", "| --- | --- |", ...rows].join("\n");
}

const nothing = async (): Promise<void> => {};
const NO_ACTIONS: Actions = { run: () => nothing, runOn: () => nothing, runOnTwo: () => nothing };

/** Options of every command, which only the index describes. */
const COMMON = new Set(["--home", "--json"]);

function createSections(command: Command, above: readonly string[]): string[] {
  const words = [...above, command.name()];
  if (command.commands.length > 0)
    return [
      `## ${words.join(" ")}`,
      toSentence(command.description()),
      ...command.commands.flatMap((inner) => createSections(inner, words)),
    ];
  const heading = above.length === 0 ? "##" : "###";
  return [
    `${heading} ${words.join(" ")}`,
    toSentence(command.description()),
    ["```text", formatUsage(command, above), "```"].join("\n"),
    ...formatOptions(command),
    ["For example:", "```sh", ...readExamples(command), "```"].join("\n").replace(":\n", ":\n\n"),
  ];
}

function formatUsage(command: Command, above: readonly string[]): string {
  return ["signalbox", ...above, command.name(), command.usage()].join(" ");
}

function formatOptions(command: Command): string[] {
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

/** Returns the examples at the end of a command's help. */
function readExamples(command: Command): string[] {
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

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const HEAD = `# Commands

\`signalbox <command> --help\` prints the same information. Installed with npm, the program is \`npx signalbox\`; in a checkout it is \`npm run signalbox --\`. [Install](guides/install.md) shows the commands for Docker.

Every command accepts \`--home <folder>\` (default \`$SIGNALBOX_HOME\`, or \`~/.signalbox\`) and \`--json\`, which also prints failures as JSON. [Operations](operations.md#exit-codes) lists the exit codes. \`signalbox completion\` prints shell completion for commands and options.

- Commands that only read or decide work with a running and with a stopped gateway. They create and migrate nothing.
- \`send\`, \`chat\`, \`status\` and \`link\` need a running gateway; \`sessions reset\` and \`restore\` a stopped one. Only a running gateway shows the tiers of a route.
- \`chat\` folds tool calls into lines and asks about calls that need an approval. With \`--json\` it prints one event per line.
- \`usage\` sums the usage that vendors reported for finished runs, including failed attempts and summaries. A run that answers several people counts for the last one. The cost is known for models with a price.

> Generated from the program.`;

const GROUP_HEAD = `Every command also accepts \`--home <folder>\` and \`--json\` ([all commands](../commands.md)).

> Generated from the program.`;
