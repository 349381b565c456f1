import type { Command } from "commander";
import { type Actions, command } from "./command.ts";

export function addMaintenance(maintenance: Command, { run }: Actions): void {
  command(maintenance, "prune", "delete data that exceeds the retention limits", [
    "maintenance prune",
  ]).action(run(async () => (await import("../commands/maintenance.ts")).prune));
  command(
    maintenance,
    "vacuum",
    "return the database's free space to the file system; the gateway may be running",
    ["maintenance vacuum"],
  ).action(run(async () => (await import("../commands/maintenance.ts")).vacuum));
}

export function addCopies(program: Command, { runOn }: Actions): void {
  command(
    program,
    "backup <folder>",
    "copy the database and unsent attachments to a new folder; the gateway may be running",
    ["backup /backups/monday"],
  ).action(runOn(async () => (await import("../commands/backup.ts")).backup));
  command(
    program,
    "restore <folder>",
    "restore a backup; only while no gateway is running; the previous data is kept in the home",
    ["restore /backups/monday", "restore /backups/monday --home /srv/signalbox"],
  ).action(runOn(async () => (await import("../commands/restore.ts")).restore));
  command(program, "replay <scenarios...>", "run scenarios against fake servers and show every stage", [
    "replay scenarios/plain-answer.yaml",
    "replay --check scenarios/*.yaml",
  ])
    .option("--check", "compare the result with the scenario's expectations")
    .action(runOn(async () => (await import("../commands/replay.ts")).replay));
}
