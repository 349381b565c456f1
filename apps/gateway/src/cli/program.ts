import { Argument, Command, CommanderError } from "commander";
import { completionFor, SHELLS, type Shell } from "./commands/completion.ts";
import type { CommonOptions } from "./common-options.ts";
import { addApprovals, addAudit, addCan, addPairing, addTokens, addTrust } from "./definitions/access.ts";
import { addMcp, addMemory, addSkills } from "./definitions/agents.ts";
import { type Actions, actionsOn, command, takeCommonOptionsFirst } from "./definitions/command.ts";
import { addConfiguration, addModels } from "./definitions/configuration.ts";
import {
  addConversations,
  addCron,
  addMessages,
  addOutbox,
  addSessions,
  addUsage,
} from "./definitions/conversations.ts";
import { addCopies, addImport, addMaintenance } from "./definitions/maintenance.ts";
import { addService, addServiceManager } from "./definitions/service.ts";
import { getErrorCode } from "./errors.ts";
import { exitCode } from "./exit-codes.ts";
import type { GatewayHost } from "./host.ts";
import { print } from "./output.ts";
import { withOwnCommand } from "./own-command.ts";

/** Runs the command line and sets the exit code of the process. */
export async function runProgram(argv: readonly string[], host: GatewayHost): Promise<void> {
  process.stdout.on("error", refuseAllButEnoughRead);
  try {
    const program = createProgram(host.version, actionsOn(host), argv.includes("--json"));
    program.configureOutput({ writeOut: (text) => void process.stdout.write(withOwnCommand(text)) });
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : exitCode("usage");
  }
}

/** A reader such as `head` may close the pipe early, which is not a failure. */
function refuseAllButEnoughRead(error: Error): void {
  if (getErrorCode(error) !== "EPIPE") throw error;
}

/** Prints a usage error, as JSON if `--json` is given. */
function usageError(text: string): string {
  const message = text.trim().replace(/^error: /, "");
  return `${JSON.stringify({ error: { message, exitCode: exitCode("usage") } })}\n`;
}

/** Packages in a checkout have the version 0.0.0. */
function describeVersion(version: string): string {
  return version === "0.0.0" ? "0.0.0 (unreleased, from a checkout)" : version;
}

/** Defines every command with its options. The code of a command is loaded when it runs. */
export function createProgram(version: string, actions: Actions, json = false): Command {
  const program = new Command("signalbox")
    .description("Self-hosted gateway between chat platforms and LLM agents")
    .version(describeVersion(version))
    .exitOverride()
    .configureOutput(json ? { outputError: (text) => void process.stderr.write(usageError(text)) } : {})
    .configureHelp({ sortSubcommands: false })
    .showHelpAfterError(json ? false : "(use --help for usage)");
  addService(program, actions);
  addConfiguration(
    program.command("config").description("check, show and change the configuration"),
    actions,
  );
  addModels(program.command("models").description("subscriptions of model providers"), actions);
  addConversations(program, actions);
  addMessages(program, actions);
  addCron(program.command("cron").description("schedules and heartbeats"), actions);
  addUsage(program, actions);
  addSessions(program.command("sessions").description("list, show, rename or reset sessions"), actions);
  addOutbox(program.command("outbox").description("manage replies that were not delivered"), actions);
  addPairing(program.command("pairing").description("pairing requests and paired people"), actions);
  addServiceManager(
    program.command("service").description("run the gateway as a service on this machine"),
    actions,
  );
  addTokens(program.command("tokens").description("tokens for clients, besides the gateway's own"), actions);
  addApprovals(program.command("approvals").description("tool calls that need approval"), actions);
  addTrust(program, actions);
  addCan(program, actions);
  addAudit(program.command("audit").description("the audit log of decisions"), actions);
  addSkills(program.command("skills").description("skills that agents can use"), actions);
  addMcp(program.command("mcp").description("MCP servers and their tools"), actions);
  addMemory(program.command("memory").description("agents' memory"), actions);
  addMaintenance(
    program
      .command("maintenance")
      .description("run maintenance tasks now instead of waiting for the gateway's schedule"),
    actions,
  );
  addImport(program, actions);
  addCopies(program, actions);
  command(program, "completion", "print the completion script for a shell", [
    "completion bash > ~/.local/share/bash-completion/completions/signalbox",
  ])
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: Shell, options: CommonOptions) =>
      print(options.json, completionFor(shell, program), () => [completionFor(shell, program).trimEnd()]),
    );
  takeCommonOptionsFirst(program);
  return program;
}
