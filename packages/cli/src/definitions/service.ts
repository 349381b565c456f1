import { LOG_LEVELS } from "@signalbox/telemetry";
import { type Command, Option } from "commander";
import { type Actions, command, count, settings } from "./command.ts";

export function addService(program: Command, { run }: Actions): void {
  command(
    program,
    "init",
    "set up a model, an agent, a channel and the service; asks what no option answers",
    ["init", `init --yes --provider anthropic --api-key "$KEY" --channel telegram --set botToken="$TOKEN"`],
  )
    .option("--provider <name>", "anthropic, openai, google, mistral, local or none")
    .option("--api-key <key>", "its key; kept in a file of its own")
    .option("--base-url <address>", "its address, where that is not the vendor's")
    .option("--model <reference>", "as anthropic/claude-sonnet-4-6")
    .option("--agent <id>", "a short name for the agent")
    .option("--workspace <folder>", "where it works")
    .option("--language <language>", "of the first files there: en or zh; default: that of the machine")
    .option("--channel <id>", "where people talk to it")
    .option("--account <name>", "the channel's account", "main")
    .option("--set <field=value...>", "a setting of the channel", settings)
    .option("--owner <id>", "your own id on the channel")
    .option("--service", "start it now, and whenever this machine starts")
    .option("--no-service", "do not, and do not ask")
    .option("--no-check", "try neither the key nor the channel")
    .option("--yes", "ask nothing")
    .action(run(async () => (await import("../init/init.ts")).init));
  command(program, "start", "start the gateway", ["start", "start --strict --home /srv/signalbox"])
    .option("--strict", "refuse to start when anything in the configuration is wrong")
    .action(run(async () => (await import("../commands/start.ts")).start));
  command(program, "status", "tell whether the gateway runs and what it does", ["status --json"]).action(
    run(async () => (await import("../commands/status.ts")).status),
  );
  command(program, "link", "print an address that signs a browser in, once and within minutes", [
    "link",
  ]).action(run(async () => (await import("../commands/link.ts")).link));
  command(program, "logs", "show the last lines of the log", ["logs -f", "logs --level warn --lines 200"])
    .option("-f, --follow", "and those that come, until Ctrl+C")
    .addOption(new Option("--level <level>", "those at least so urgent").choices(LOG_LEVELS).default("info"))
    .option("--lines <count>", "how many", count, 50)
    .action(run(async () => (await import("../commands/logs.ts")).logs));
  command(
    program,
    "doctor",
    "check the machine, the home, the running gateway, the configuration and the sandbox",
    ["doctor", "doctor --fix", "doctor --models"],
  )
    .option("--fix", "mend what can be mended without a loss")
    .option("--models", "have the running gateway call each agent's model once, which is paid for")
    .action(run(async () => (await import("../commands/doctor.ts")).doctor));
}

export function addServiceManager(service: Command, { run }: Actions): void {
  command(service, "install", "start it with the machine, and again where it fails", [
    "service install",
  ]).action(run(async () => (await import("../commands/service.ts")).install));
  command(service, "remove", "start it no more; the home stays", ["service remove"]).action(
    run(async () => (await import("../commands/service.ts")).remove),
  );
  command(service, "status", "tell whether it is installed and runs", ["service status"]).action(
    run(async () => (await import("../commands/service.ts")).status),
  );
}
