import type { Command } from "commander";
import { type Actions, command } from "./command.ts";

export function addConfiguration(config: Command, { run, runOn, runOnTwo }: Actions): void {
  command(config, "check", "say what is wrong with the configuration", [
    "config check",
    "config check --json",
  ]).action(run(async () => (await import("../commands/config.ts")).check));
  command(config, "schema", "print the configuration's JSON Schema", [
    "config schema > ~/.signalbox/schema.json",
  ]).action(run(async () => (await import("../commands/config.ts")).schema));
  command(config, "set <path> <value>", "change one value, as agents.defaults.model; comments stay", [
    "config set agents.defaults.model anthropic/claude-sonnet-4-6",
    `config set access.owners "[telegram:5001]"`,
  ]).action(runOnTwo(async () => (await import("../commands/config.ts")).set));
  command(config, "unset <path>", "take one value out", ["config unset agents.defaults.model"]).action(
    runOn(async () => (await import("../commands/config.ts")).unset),
  );
  command(config, "history", "list what the file was before the last changes", ["config history"]).action(
    run(async () => (await import("../commands/config.ts")).history),
  );
  command(config, "rollback <version>", "put an earlier version back", [
    "config rollback 2026-11-23T13-06-55.970Z",
  ]).action(runOn(async () => (await import("../commands/config.ts")).rollback));
  command(config, "show", "print the configuration as it applies, secrets left out", ["config show"]).action(
    run(async () => (await import("../commands/config.ts")).show),
  );
}
