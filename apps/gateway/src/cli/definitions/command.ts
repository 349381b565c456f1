import { type Command, type CommandOptions, InvalidArgumentError, Option } from "commander";
import type { CommonOptions } from "../common-options.ts";
import type { GatewayHost } from "../host.ts";
import { guarded } from "../output.ts";

/** Heading of the examples in a command's help. */
const EXAMPLES_TITLE = "Examples:";

/** Creates the actions of commands. A command's code is loaded when it runs. */
export interface Actions {
  run<Options extends CommonOptions>(
    load: () => Promise<(options: Options, host: GatewayHost) => Promise<void>>,
  ): (options: Options) => Promise<void>;
  /** Runs a command with one argument. */
  runOn<What, Options extends CommonOptions>(
    load: () => Promise<(what: What, options: Options, host: GatewayHost) => Promise<void>>,
  ): (what: What, options: Options) => Promise<void>;
  /** Runs a command with two arguments. */
  runOnTwo<First, Second, Options extends CommonOptions>(
    load: () => Promise<(first: First, second: Second, options: Options, host: GatewayHost) => Promise<void>>,
  ): (first: First, second: Second, options: Options) => Promise<void>;
}

export function actionsOn(host: GatewayHost): Actions {
  return {
    run: (load) => (options) => guarded(options.json, async () => (await load())(options, host)),
    runOn: (load) => (what, options) =>
      guarded(options.json, async () => (await load())(what, options, host)),
    runOnTwo: (load) => (first, second, options) =>
      guarded(options.json, async () => (await load())(first, second, options, host)),
  };
}

function homeOption(): Option {
  return new Option("--home <folder>", "folder of the gateway's files").env("SIGNALBOX_HOME");
}

/**
 * Adds a command with the common options.
 *
 * @param examples usage examples without the program's name, shown below the help
 */
export function command(
  parent: Command,
  name: string,
  description: string,
  examples: readonly [string, ...string[]],
  options: CommandOptions = {},
): Command {
  const lines = examples.map((line) => `  signalbox ${line}`);
  return withCommonOptions(parent.command(name, options))
    .description(description)
    .addHelpText("after", `\n${EXAMPLES_TITLE}\n${lines.join("\n")}`);
}

function withCommonOptions(each: Command): Command {
  return each.addOption(homeOption()).option("--json", "print JSON");
}

/** Also accepts the common options before a command. Options after the command take precedence. */
export function takeCommonOptionsFirst(program: Command): void {
  for (const group of [program, ...program.commands.filter(({ commands }) => commands.length > 0)])
    withCommonOptions(group);
  program.hook("preAction", (_, action) => {
    for (const name of ["home", "json"])
      for (let above = action.parent; above !== null; above = above.parent)
        if (action.getOptionValueSource(name) !== "cli" && above.getOptionValueSource(name) === "cli")
          action.setOptionValueWithSource(name, above.getOptionValue(name), "cli");
  });
}

/** Collects `field=value` options, which may be repeated. */
export function settings(
  pair: string,
  earlier: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const [name = "", ...value] = pair.split("=");
  if (value.length === 0) throw new InvalidArgumentError("Write it as field=value.");
  return { ...earlier, [name]: value.join("=") };
}

/** Parses a number of list entries. */
export function count(text: string): number {
  const entries = Number(text);
  if (!Number.isSafeInteger(entries) || entries < 1)
    throw new InvalidArgumentError("Expected a whole number of at least 1.");
  return entries;
}
