import type { Command } from "commander";
import { type Actions, command, count, settings } from "./command.ts";

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

const listed = (text: string, earlier: readonly string[] = []): readonly string[] => [
  ...earlier,
  ...text.split(","),
];

export function addImport(program: Command, { runOnTwo }: Actions): void {
  command(
    program,
    "import <system> [folder]",
    "import the home of OpenClaw, nanobot or Hermes; prints a plan and changes nothing without --apply",
    [
      "import openclaw",
      "import openclaw ~/.openclaw --apply --secrets",
      "import hermes --only workspaces,memory",
    ],
  )
    .option("--apply", "carry out the plan; only while no gateway is running")
    .option("--secrets", "also copy keys and tokens, into files that only you can read")
    .option("--only <parts>", "workspaces, skills, memory, sessions, people, schedules, config", listed)
    .option("--agent <theirs=ours>", "rename an agent", settings)
    .option("--account <channel/theirs=ours>", "rename an account of a channel", settings)
    .option("--owner <channel:id>", "a person who is an owner, if the home names none", listed)
    .option("--since <days>", "only conversations with activity in this number of days", count)
    .option("--force <parts>", "replace items of these parts that exist", listed)
    .option("--all", "also keep sessions of schedules, webhooks, sub-agents and terminals, on the web page")
    .option("--keep-unsupported", "also keep conversations that nobody can continue here, on the web page")
    .option("--in-place", "OpenClaw, nanobot: agents use their workspaces where they are, without a copy")
    .option("--trust-memory", "import notes as the owner's own, although others could talk to the agent")
    .action(runOnTwo(async () => (await import("../commands/import.ts")).importFrom));
}

export function addCopies(program: Command, { run, runOn }: Actions): void {
  command(
    program,
    "backup <folder>",
    "copy the whole home to a new folder, and test the copy; the gateway may be running",
    ["backup /backups/monday", "backup /backups/monday --secrets"],
  )
    .option("--secrets", "also copy secrets/ and the gateway's token")
    .action(runOn(async () => (await import("../commands/backup.ts")).backup));
  command(
    program,
    "restore <folder>",
    "restore a backup; only while no gateway is running; the previous data is kept in the home",
    ["restore /backups/monday", "restore /backups/monday --home /srv/signalbox"],
  ).action(runOn(async () => (await import("../commands/restore.ts")).restore));
  command(
    program,
    "migrate",
    "copy the database file into an empty PostgreSQL database; only while no gateway is running",
    ["migrate --to postgres://signalbox:secret@localhost/signalbox"],
  )
    .requiredOption("--to <url>", "URL of the PostgreSQL database")
    .action(run(async () => (await import("../commands/migrate.ts")).migrate));
  command(program, "replay <scenarios...>", "run scenarios against fake servers and show every stage", [
    "replay scenarios/plain-answer.yaml",
    "replay --check scenarios/*.yaml",
  ])
    .option("--check", "compare the result with the scenario's expectations")
    .action(runOn(async () => (await import("../commands/replay.ts")).replay));
}
