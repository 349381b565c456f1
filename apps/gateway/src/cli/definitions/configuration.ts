import type { Command } from "commander";
import { type Actions, command } from "./command.ts";

export function addConfiguration(config: Command, { run, runOn, runOnTwo }: Actions): void {
  command(config, "check", "check the configuration and report every problem", [
    "config check",
    "config check --strict --json",
  ])
    .option("--strict", "also fail if settings are ignored, such as unknown keys")
    .action(run(async () => (await import("../commands/config.ts")).check));
  command(config, "schema", "print the configuration's JSON Schema", [
    "config schema > ~/.signalbox/schema.json",
  ]).action(run(async () => (await import("../commands/config.ts")).schema));
  command(config, "set <path> <value>", "change one value, such as agents.defaults.model; comments stay", [
    "config set agents.defaults.model anthropic/claude-sonnet-4-6",
    `config set access.owners "[telegram:5001]"`,
  ]).action(runOnTwo(async () => (await import("../commands/config.ts")).set));
  command(config, "unset <path>", "remove one value", ["config unset agents.defaults.model"]).action(
    runOn(async () => (await import("../commands/config.ts")).unset),
  );
  command(config, "history", "list earlier versions of the file", ["config history"]).action(
    run(async () => (await import("../commands/config.ts")).history),
  );
  command(config, "rollback <version>", "restore an earlier version", [
    "config rollback 2026-11-23T13-06-55.970Z",
  ]).action(runOn(async () => (await import("../commands/config.ts")).rollback));
  command(config, "show", "print the effective configuration, without secrets", ["config show"]).action(
    run(async () => (await import("../commands/config.ts")).show),
  );
}

export function addModels(models: Command, { runOn }: Actions): void {
  command(models, "login <provider>", "sign in with a subscription, which its vendor may not permit", [
    "models login chatgpt",
    "models login claude",
    "models login copilot",
  ]).action(runOn(async () => (await import("../commands/models.ts")).login));
  command(
    models,
    "logout <provider>",
    "sign out of a subscription, and revoke the tokens if the vendor allows it",
    ["models logout chatgpt"],
  ).action(runOn(async () => (await import("../commands/models.ts")).logout));
}
