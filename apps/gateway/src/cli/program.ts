import { AUDIT_KINDS } from "@signalbox/audit";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { codeOf } from "../errors.ts";
import { VERSION } from "../version.ts";
import type { CommonOptions } from "./common-options.ts";
import { exitCode } from "./exit-codes.ts";
import { guarded } from "./output.ts";

/** Runs the command line; sets the exit code of the process. */
export async function runCli(argv: readonly string[]): Promise<void> {
  process.stdout.on("error", refuseAllButEnoughRead);
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : exitCode("usage");
  }
}

/** Whoever reads a command's output may have enough of it, as `head` has: the rest is nobody's, and no failure. */
function refuseAllButEnoughRead(error: Error): void {
  if (codeOf(error) !== "EPIPE") throw error;
}

/** Every command with its options; the code of a command is loaded when it runs. */
export function createProgram(): Command {
  const program = new Command("signalbox")
    .description("Self-hosted gateway between chat platforms and LLM agents")
    .version(VERSION)
    .exitOverride()
    .configureHelp({ sortSubcommands: false });
  addService(program);
  addConfiguration(program.command("config").description("check or show the configuration"));
  addConversations(program);
  addOutbox(program.command("outbox").description("replies that were not delivered"));
  addPairing(program.command("pairing").description("strangers who asked to talk"));
  addServiceManager(program.command("service").description("the gateway as a service of this machine"));
  addTokens(program.command("tokens").description("tokens of clients, beside the gateway's own"));
  addApprovals(program.command("approvals").description("tool calls that wait for somebody's word"));
  addAudit(program.command("audit").description("what was decided, and by whom"));
  addSkills(program.command("skills").description("skills the agents can use"));
  addMemory(program.command("memory").description("what the agents remember"));
  addMaintenance(program.command("maintenance").description("what the gateway does by itself, now"));
  addCopies(program);
  return program;
}

/** A command with the options that all of them take. */
function command(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .addOption(new Option("--home <folder>", "where the gateway keeps everything").env("SIGNALBOX_HOME"))
    .option("--json", "print JSON");
}

/** `field=value`, as often as one likes. */
function settings(pair: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [name = "", ...value] = pair.split("=");
  if (value.length === 0) throw new InvalidArgumentError("Write it as field=value.");
  return { ...earlier, [name]: value.join("=") };
}

/** How many entries of a list. */
function count(text: string): number {
  const entries = Number(text);
  if (!Number.isSafeInteger(entries) || entries < 1)
    throw new InvalidArgumentError("Write a whole number from 1 on.");
  return entries;
}

/** Runs what is loaded with the options of the command line. */
function run<Options extends CommonOptions>(load: () => Promise<(options: Options) => Promise<void>>) {
  return (options: Options): Promise<void> => guarded(options.json, async () => (await load())(options));
}

/** The same for a command that is told what it is about. */
function runOn<What, Options extends CommonOptions>(
  load: () => Promise<(what: What, options: Options) => Promise<void>>,
) {
  return (what: What, options: Options): Promise<void> =>
    guarded(options.json, async () => (await load())(what, options));
}

function addService(program: Command): void {
  command(program, "init", "set up a model, an agent and a channel; asks what no option answers")
    .option("--provider <name>", "anthropic, openai, google, mistral, local or none")
    .option("--api-key <key>", "its key; kept in a file of its own")
    .option("--base-url <address>", "its address, where that is not the vendor's")
    .option("--model <reference>", "as anthropic/claude-sonnet-4-6")
    .option("--agent <id>", "a short name for the agent")
    .option("--workspace <folder>", "where it works")
    .option("--channel <id>", "where people talk to it")
    .option("--account <name>", "the channel's account", "main")
    .option("--set <field=value...>", "a setting of the channel", settings)
    .option("--owner <id>", "your own id on the channel")
    .option("--no-check", "try neither the key nor the channel")
    .option("--yes", "ask nothing")
    .action(run(async () => (await import("./init/init.ts")).init));
  command(program, "start", "start the gateway")
    .option("--strict", "refuse to start when anything in the configuration is wrong")
    .action(run(async () => (await import("./start.ts")).start));
  command(program, "status", "tell whether the gateway runs and what it does").action(
    run(async () => (await import("./status.ts")).status),
  );
  command(program, "doctor", "check the home, the configuration, the database and the sandbox").action(
    run(async () => (await import("./doctor.ts")).doctor),
  );
}

function addServiceManager(service: Command): void {
  command(service, "install", "start it with the machine, and again where it fails").action(
    run(async () => (await import("./service.ts")).install),
  );
  command(service, "remove", "start it no more; the home stays").action(
    run(async () => (await import("./service.ts")).remove),
  );
  command(service, "status", "tell whether it is installed and runs").action(
    run(async () => (await import("./service.ts")).status),
  );
}

function addConfiguration(config: Command): void {
  command(config, "check", "say what is wrong with the configuration").action(
    run(async () => (await import("./config.ts")).check),
  );
  command(config, "schema", "print the configuration's JSON Schema").action(
    run(async () => (await import("./config.ts")).schema),
  );
  command(config, "set <path> <value>", "change one value, as agents.defaults.model; comments stay").action(
    (path: string, value: string, options: CommonOptions) =>
      guarded(options.json, async () => (await import("./config.ts")).set(path, value, options)),
  );
  command(config, "unset <path>", "take one value out").action(
    runOn(async () => (await import("./config.ts")).unset),
  );
  command(config, "history", "list what the file was before the last changes").action(
    run(async () => (await import("./config.ts")).history),
  );
  command(config, "rollback <version>", "put an earlier version back").action(
    runOn(async () => (await import("./config.ts")).rollback),
  );
  command(config, "show", "print the configuration as it applies, secrets left out").action(
    run(async () => (await import("./config.ts")).show),
  );
}

function addConversations(program: Command): void {
  command(program, "send <text...>", "send one message to an agent and print its reply")
    .option("--agent <id>", "which agent")
    .option("--conversation <name>", "which conversation", "cli")
    .action(runOn(async () => (await import("./talk.ts")).send));
  command(program, "chat", "talk to an agent in the terminal")
    .option("--agent <id>", "which agent")
    .option("--conversation <name>", "which conversation", "cli")
    .action(run(async () => (await import("./talk.ts")).chat));
  command(program, "sessions", "list the conversations").action(
    run(async () => (await import("./inspect.ts")).sessions),
  );
  command(program, "trace <message>", "show every stage a message went through").action(
    runOn(async () => (await import("./inspect.ts")).trace),
  );
  command(program, "why <message>", "say in short why a message was routed and answered as it was").action(
    runOn(async () => (await import("./inspect.ts")).why),
  );
}

function addOutbox(outbox: Command): void {
  command(outbox, "list", "list them")
    .option("--all", "also those that wait or are being sent")
    .action(run(async () => (await import("./outbox.ts")).list));
  command(outbox, "retry <id>", "send one again, at once where the gateway runs").action(
    runOn(async () => (await import("./outbox.ts")).retry),
  );
  command(outbox, "drop <id>", "give one up").action(runOn(async () => (await import("./outbox.ts")).drop));
}

function addPairing(pairing: Command): void {
  command(pairing, "list", "list open requests and paired people").action(
    run(async () => (await import("./pairing.ts")).list),
  );
  command(pairing, "approve <code>", "let the person with this code talk").action(
    runOn(async () => (await import("./pairing.ts")).approve),
  );
  command(pairing, "revoke <person>", "unpair the person whom the list names channel:account:person").action(
    runOn(async () => (await import("./pairing.ts")).revoke),
  );
}

function addTokens(tokens: Command): void {
  const role = new Option("--role <role>", "what it may do").choices(["owner", "member"]).default("member");
  command(tokens, "add <name>", "make one, and show it this once")
    .addOption(role)
    .action(runOn(async () => (await import("./tokens.ts")).add));
  command(tokens, "list", "list them, with their last use").action(
    run(async () => (await import("./tokens.ts")).list),
  );
  command(tokens, "revoke <name>", "end one, and what it has opened").action(
    runOn(async () => (await import("./tokens.ts")).revoke),
  );
}

function addApprovals(approvals: Command): void {
  command(approvals, "list", "list them").action(run(async () => (await import("./approvals.ts")).list));
  command(approvals, "log", "list all that was asked, with what was decided, by whom and when").action(
    run(async () => (await import("./approvals.ts")).log),
  );
  command(approvals, "allow <id>", "allow one").action(
    runOn(async () => (await import("./approvals.ts")).allow),
  );
  command(approvals, "allow-always <id>", "allow one, and the same commands unasked from now on").action(
    runOn(async () => (await import("./approvals.ts")).allowAlways),
  );
  command(approvals, "deny <id>", "deny one").action(
    runOn(async () => (await import("./approvals.ts")).deny),
  );
}

function addAudit(audit: Command): void {
  command(audit, "list", "list the latest decisions")
    .addOption(new Option("--kind <kind>", "only these").choices(AUDIT_KINDS))
    .option("--limit <count>", "how many", count, 50)
    .action(run(async () => (await import("./audit.ts")).list));
  command(audit, "verify", "find records that were changed, removed or moved")
    .option("--head <end>", "an end of the chain that was noted elsewhere, as this command prints it")
    .action(run(async () => (await import("./audit.ts")).verify));
}

function addSkills(skills: Command): void {
  command(skills, "list", "list them with their source").action(
    run(async () => (await import("./skills.ts")).list),
  );
  command(skills, "check", "say which cannot be used, and why").action(
    run(async () => (await import("./skills.ts")).check),
  );
}

function addMemory(memory: Command): void {
  const about = (name: string, description: string) =>
    command(memory, name, description).option("--agent <id>", "whose; default: the default agent's");
  about("search <query...>", "search notes and conversations, those of all people")
    .option("--limit <count>", "how many", count, 10)
    .action(runOn(async () => (await import("./memory.ts")).search));
  about("index", "make the index anew from the files and the conversations").action(
    run(async () => (await import("./memory.ts")).index),
  );
  about("log", "list earlier states of MEMORY.md").action(run(async () => (await import("./memory.ts")).log));
  about("restore <version>", "take MEMORY.md back to one of them").action(
    runOn(async () => (await import("./memory.ts")).restore),
  );
}

function addMaintenance(maintenance: Command): void {
  command(maintenance, "prune", "remove what is over its time or number").action(
    run(async () => (await import("./maintenance.ts")).prune),
  );
  command(maintenance, "vacuum", "give free space of the database back, while the gateway runs").action(
    run(async () => (await import("./maintenance.ts")).vacuum),
  );
}

function addCopies(program: Command): void {
  command(
    program,
    "backup <folder>",
    "copy the database and unsent attachments into a new folder while the gateway runs",
  ).action(runOn(async () => (await import("./backup.ts")).backup));
  command(program, "replay <scenarios...>", "run scenarios against stand-ins and show every layer")
    .option("--check", "compare with what the scenario expects")
    .action(runOn(async () => (await import("./replay.ts")).replay));
}
