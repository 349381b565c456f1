import { AUDIT_KINDS, type AuditKind } from "@signalbox/audit";
import { Command, CommanderError, Option } from "commander";
import { EXIT } from "../errors.ts";
import { VERSION } from "../version.ts";
import type { CommonOptions } from "./common-options.ts";
import { guarded } from "./output.ts";

/** Runs the command line; sets the exit code of the process. */
export async function runCli(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

/** Every command with its options; the code of a command is loaded when it runs. */
export function createProgram(): Command {
  const program = new Command("signalbox")
    .description("Self-hosted gateway between chat platforms and LLM agents")
    .version(VERSION)
    .exitOverride()
    .configureHelp({ sortSubcommands: false });

  /** Each command takes the common options. */
  const command = (name: string, description: string, parent: Command = program): Command =>
    parent
      .command(name)
      .description(description)
      .addOption(new Option("--home <folder>", "where the gateway keeps everything").env("SIGNALBOX_HOME"))
      .option("--json", "print JSON");

  command("start", "start the gateway")
    .option("--strict", "refuse to start when anything in the configuration is wrong")
    .action((options: CommonOptions & { strict?: boolean }) =>
      guarded(options.json, async () => (await import("./start.ts")).start(options)),
    );
  command("status", "tell whether the gateway runs and what it does").action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./status.ts")).status(options)),
  );
  command("doctor", "check the home, the configuration, the database and the sandbox").action(
    (options: CommonOptions) =>
      guarded(options.json, async () => (await import("./doctor.ts")).doctor(options)),
  );

  const config = program.command("config").description("check or show the configuration");
  command("check", "say what is wrong with the configuration", config).action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./config.ts")).check(options)),
  );
  command("schema", "print the configuration's JSON Schema", config).action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./config.ts")).schema(options)),
  );
  command("show", "print the configuration as it applies, secrets left out", config).action(
    (options: CommonOptions) =>
      guarded(options.json, async () => (await import("./config.ts")).show(options)),
  );

  command("send <text...>", "send one message to an agent and print its reply")
    .option("--agent <id>", "which agent")
    .option("--conversation <name>", "which conversation", "cli")
    .action((text: string[], options: CommonOptions & { agent?: string; conversation: string }) =>
      guarded(options.json, async () => (await import("./talk.ts")).send(text.join(" "), options)),
    );
  command("chat", "talk to an agent in the terminal")
    .option("--agent <id>", "which agent")
    .option("--conversation <name>", "which conversation", "cli")
    .action((options: CommonOptions & { agent?: string; conversation: string }) =>
      guarded(options.json, async () => (await import("./talk.ts")).chat(options)),
    );

  command("sessions", "list the conversations").action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./inspect.ts")).sessions(options)),
  );
  command("trace <message>", "show every stage a message went through").action(
    (id: string, options: CommonOptions) =>
      guarded(options.json, async () => (await import("./inspect.ts")).trace(id, options)),
  );
  command("why <message>", "say in short why a message was routed and answered as it was").action(
    (id: string, options: CommonOptions) =>
      guarded(options.json, async () => (await import("./inspect.ts")).why(id, options)),
  );

  const outbox = program.command("outbox").description("replies that were not delivered");
  command("list", "list them", outbox)
    .option("--all", "also those that wait or are being sent")
    .action((options: CommonOptions & { all?: boolean }) =>
      guarded(options.json, async () => (await import("./outbox.ts")).list(options)),
    );
  command("retry <id>", "send one again, at once where the gateway runs", outbox).action(
    (id: string, options: CommonOptions) =>
      guarded(options.json, async () => (await import("./outbox.ts")).retry(id, options)),
  );
  command("drop <id>", "give one up", outbox).action((id: string, options: CommonOptions) =>
    guarded(options.json, async () => (await import("./outbox.ts")).drop(id, options)),
  );

  const pairing = program.command("pairing").description("strangers who asked to talk");
  command("list", "list open requests and paired people", pairing).action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./pairing.ts")).list(options)),
  );
  command("approve <code>", "let the person with this code talk", pairing).action(
    (code: string, options: CommonOptions) =>
      guarded(options.json, async () => (await import("./pairing.ts")).approve(code, options)),
  );
  command("revoke <person>", "unpair the person whom the list names channel:account:person", pairing).action(
    (person: string, options: CommonOptions) =>
      guarded(options.json, async () => (await import("./pairing.ts")).revoke(person, options)),
  );

  const tokens = program.command("tokens").description("tokens of clients, beside the gateway's own");
  command("add <name>", "make one, and show it this once", tokens)
    .addOption(new Option("--role <role>", "what it may do").choices(["owner", "member"]).default("member"))
    .action((name: string, options: CommonOptions & { role: "owner" | "member" }) =>
      guarded(options.json, async () => (await import("./tokens.ts")).add(name, options)),
    );
  command("list", "list them, with their last use", tokens).action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./tokens.ts")).list(options)),
  );
  command("revoke <name>", "end one, and what it has opened", tokens).action(
    (name: string, options: CommonOptions) =>
      guarded(options.json, async () => (await import("./tokens.ts")).revoke(name, options)),
  );

  const approvals = program.command("approvals").description("tool calls that wait for somebody's word");
  command("list", "list them", approvals).action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./approvals.ts")).list(options)),
  );
  command("log", "list all that was asked, with what was decided, by whom and when", approvals).action(
    (options: CommonOptions) =>
      guarded(options.json, async () => (await import("./approvals.ts")).log(options)),
  );
  for (const answer of ["allow", "deny"] as const) {
    command(`${answer} <id>`, `${answer} one`, approvals).action((id: string, options: CommonOptions) =>
      guarded(options.json, async () => (await import("./approvals.ts")).decide(answer, id, options)),
    );
  }

  const audit = program.command("audit").description("what was decided, and by whom");
  command("list", "list the latest decisions", audit)
    .addOption(new Option("--kind <kind>", "only these").choices(AUDIT_KINDS))
    .option("--limit <count>", "how many", "50")
    .action((options: CommonOptions & { kind?: AuditKind; limit: string }) =>
      guarded(options.json, async () => (await import("./audit.ts")).list(options)),
    );
  command("verify", "find records that were changed, removed or moved", audit)
    .option("--head <end>", "an end of the chain that was noted elsewhere, as this command prints it")
    .action((options: CommonOptions & { head?: string }) =>
      guarded(options.json, async () => (await import("./audit.ts")).verify(options)),
    );

  const skills = program.command("skills").description("skills the agents can use");
  command("list", "list them with their source", skills).action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./skills.ts")).list(options)),
  );
  command("check", "say which cannot be used, and why", skills).action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./skills.ts")).check(options)),
  );

  const maintenance = program.command("maintenance").description("what the gateway does by itself, now");
  command("prune", "remove what is over its time or number", maintenance).action((options: CommonOptions) =>
    guarded(options.json, async () => (await import("./maintenance.ts")).prune(options)),
  );
  command("vacuum", "give free space of the database back, while the gateway runs", maintenance).action(
    (options: CommonOptions) =>
      guarded(options.json, async () => (await import("./maintenance.ts")).vacuum(options)),
  );
  command(
    "backup <folder>",
    "copy the database and unsent attachments into a new folder while the gateway runs",
  ).action((folder: string, options: CommonOptions) =>
    guarded(options.json, async () => (await import("./backup.ts")).backup(folder, options)),
  );
  command("replay <scenarios...>", "run scenarios against stand-ins and show every layer")
    .option("--check", "compare with what the scenario expects")
    .action((files: string[], options: CommonOptions & { check?: boolean }) =>
      guarded(options.json, async () => (await import("./replay.ts")).replay(files, options)),
    );

  return program;
}
