import { LOG_LEVELS } from "@signalbox/telemetry";
import { type Command, Option } from "commander";
import { type Actions, command, count, settings } from "./command.ts";

export function addService(program: Command, { run }: Actions): void {
  command(
    program,
    "init",
    "set up a model, an agent, a channel and the service; asks for values that no option sets",
    ["init", `init --yes --provider anthropic --api-key "$KEY" --channel telegram --set botToken="$TOKEN"`],
  )
    .option("--provider <name>", "model provider: anthropic, openai, google, mistral, local or none")
    .option("--api-key <key>", "the provider's key; stored in a separate file")
    .option("--base-url <address>", "the provider's URL, if it is not the vendor's own")
    .option("--model <reference>", "the model, such as anthropic/claude-sonnet-4-6")
    .option("--agent <id>", "short name for the agent")
    .option("--workspace <folder>", "the agent's workspace")
    .option(
      "--language <language>",
      "language of the initial workspace files: en or zh; default: that of the machine",
    )
    .option("--channel <id>", "the channel to set up")
    .option("--account <name>", "account of the channel", "main")
    .option("--set <field=value...>", "setting of the channel", settings)
    .option("--owner <id>", "your user id on the channel")
    .option("--service", "install the service: start it now and at every boot")
    .option("--no-service", "do not install the service, and do not ask")
    .option("--no-check", "do not test the key and the channel")
    .option("--yes", "ask no questions")
    .action(run(async () => (await import("../init/init.ts")).init));
  command(program, "start", "start the gateway", ["start", "start --strict --home /srv/signalbox"])
    .option(
      "--strict",
      "refuse to start if the configuration has errors or ignored settings, such as unknown keys",
    )
    .option("--quiet", "write the log only to the file in the home, not to standard error")
    .action(run(async () => (await import("../commands/start.ts")).start));
  command(program, "status", "show whether the gateway is running, and its current work", [
    "status --json",
  ]).action(run(async () => (await import("../commands/status.ts")).status));
  command(program, "link", "print a link that signs a browser in; it works once, for five minutes", [
    "link",
  ]).action(run(async () => (await import("../commands/link.ts")).link));
  command(program, "logs", "show the latest log lines", ["logs -f", "logs --level warn --lines 200"])
    .option("-f, --follow", "keep printing new lines, until Ctrl+C")
    .addOption(new Option("--level <level>", "minimum level to show").choices(LOG_LEVELS).default("info"))
    .option("--lines <count>", "number of lines", count, 50)
    .action(run(async () => (await import("../commands/logs.ts")).logs));
  command(
    program,
    "doctor",
    "check the machine, the home, the running gateway, the configuration and the sandbox",
    ["doctor", "doctor --fix", "doctor --models", "doctor --security"],
  )
    .option("--fix", "apply fixes that are safe")
    .option("--security", "only review who and what can reach the agents, and what the agents can reach")
    .option("--models", "have the running gateway make one paid call to each agent's model")
    .action(run(async () => (await import("../commands/doctor.ts")).doctor));
}

export function addServiceManager(service: Command, { run }: Actions): void {
  command(service, "install", "start the gateway at every boot, and restart it after a failure", [
    "service install",
    "service install --system",
  ])
    .option(
      "--system",
      "as root, on Linux: install it for the system, with a user of its own and /var/lib/signalbox",
    )
    .action(run(async () => (await import("../commands/service.ts")).install));
  command(service, "remove", "remove the service; the home is kept", ["service remove"]).action(
    run(async () => (await import("../commands/service.ts")).remove),
  );
  command(service, "status", "show whether the service is installed and running", ["service status"]).action(
    run(async () => (await import("../commands/service.ts")).status),
  );
}
