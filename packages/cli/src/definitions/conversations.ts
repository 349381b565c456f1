import { type Command, Option } from "commander";
import { type Actions, command, count } from "./command.ts";

const USAGE_GROUPS = ["message", "day", "agent", "session", "sender"] as const;

export function addConversations(program: Command, { run, runOn }: Actions): void {
  command(program, "send <text...>", "send one message to an agent and print its reply", [
    `send "list the files"`,
    `send --agent coder --conversation nightly --json "run the tests"`,
  ])
    .option("--agent <id>", "which agent")
    .option("--conversation <name>", "which conversation", "cli")
    .action(runOn(async () => (await import("../commands/talk.ts")).send));
  command(program, "chat", "talk to an agent in the terminal", ["chat", "chat --agent coder"])
    .option("--agent <id>", "which agent")
    .option("--conversation <name>", "which conversation", "cli")
    .action(run(async () => (await import("../commands/talk.ts")).chat));
}

export function addMessages(program: Command, { run, runOn }: Actions): void {
  command(program, "messages", "list the latest messages of all channels, with their ids", [
    "messages",
    "messages --limit 5 --json",
  ])
    .option("--limit <count>", "how many", count, 20)
    .option("--session <key>", "those of one conversation, as `sessions` names it")
    .action(run(async () => (await import("../commands/messages.ts")).messages));
  command(program, "why [message]", "say why a message was answered, or not; without an id, the last one", [
    "why",
    "why om_4f2c --details",
  ])
    .option("--details", "every step of it")
    .action(runOn(async () => (await import("../commands/why.ts")).why));
  command(program, "trace [message]", "show all that is noted about a message; without an id, the last one", [
    "trace",
    "trace om_4f2c --json",
  ]).action(runOn(async () => (await import("../commands/why.ts")).trace));
  command(program, "prompt <agent>", "show what an agent's last prompt was made of, and what it cost", [
    "prompt main",
    "prompt main --session agent:main:feishu:direct:ou_1 --json",
  ])
    .option("--session <key>", "the last of one conversation, as `sessions` names it")
    .action(runOn(async () => (await import("../commands/prompt.ts")).prompt));
}

export function addCron(cron: Command, { run, runOn }: Actions): void {
  command(cron, "list", "list it, heartbeats included", ["cron list"], { isDefault: true }).action(
    run(async () => (await import("../commands/cron.ts")).list),
  );
  command(cron, "add <text...>", "tell an agent something later, in a conversation or on the page", [
    `cron add --cron "0 9 * * 1-5" --zone Europe/Berlin "Say what is new in the repository."`,
    `cron add --in 2h --session agent:main:feishu:direct:ou_1 "Remind me of the call."`,
  ])
    .option("--at <time>", "once, for instance 2026-12-24T18:00")
    .option("--in <span>", "once, so long from now: 2h 30m")
    .option("--every <span>", "again and again: 1d")
    .option("--cron <expression>", "by a cron expression: 0 9 * * 1-5")
    .option("--zone <name>", "of the time or the expression; otherwise that of the gateway's machine")
    .addOption(
      new Option(
        "--missed <policy>",
        "what was due while no gateway ran comes once, late, or not at all",
      ).choices(["once", "skip"]),
    )
    .option("--session <key>", "in which conversation, as `sessions` names it; an owner has written there")
    .option(
      "--agent <id>",
      "which agent, in a conversation of its own on the page; otherwise the default one",
    )
    .action(runOn(async () => (await import("../commands/cron.ts")).add));
  command(cron, "remove <id>", "have it not come any more", ["cron remove 4f2c9a1e"]).action(
    runOn(async () => (await import("../commands/cron.ts")).remove),
  );
  command(cron, "run <id>", "have it come now, beside its times", ["cron run 4f2c9a1e"]).action(
    runOn(async () => (await import("../commands/cron.ts")).run),
  );
}

export function addUsage(program: Command, { run }: Actions): void {
  command(
    program,
    "usage",
    "show the tokens and the money that agents have used, as their vendors reported them",
    [
      "usage",
      "usage --by message --days 1",
      "usage --by sender --days 7",
      "usage --by agent --json",
      "usage --budgets",
    ],
  )
    .addOption(new Option("--by <what>", "of each").choices(USAGE_GROUPS).default("day"))
    .addOption(new Option("--budgets", "what is left of each budget, and to whom").conflicts(["by", "days"]))
    .option(
      "--days <count>",
      "of the last so many days (UTC), today included; default: 7 by message, else all",
      count,
    )
    .action(run(async () => (await import("../commands/usage.ts")).usage));
}

export function addSessions(sessions: Command, { run, runOn, runOnTwo }: Actions): void {
  command(sessions, "list", "list them", ["sessions"], { isDefault: true }).action(
    run(async () => (await import("../commands/sessions.ts")).list),
  );
  command(sessions, "show <session>", "show one with its latest messages; the end of its name will do", [
    "sessions show direct:cli --limit 5",
  ])
    .option("--limit <count>", "how many messages", count, 20)
    .action(runOn(async () => (await import("../commands/sessions.ts")).show));
  command(sessions, "rename <session> <title>", "give one a title", [
    `sessions rename direct:cli "Files of June"`,
  ]).action(runOnTwo(async () => (await import("../commands/sessions.ts")).rename));
  command(sessions, "reset <session>", "begin one anew, as /new does in it, while no gateway runs", [
    "sessions reset direct:cli",
  ]).action(runOn(async () => (await import("../commands/sessions.ts")).reset));
}

export function addOutbox(outbox: Command, { run, runOn }: Actions): void {
  command(outbox, "list", "list them", ["outbox list", "outbox list --all"])
    .option("--all", "also those that wait or are being sent")
    .action(run(async () => (await import("../commands/outbox.ts")).list));
  command(outbox, "retry <id>", "send one again, at once where the gateway runs", [
    "outbox retry 01M82DHT2NBR4NHKVP00000002",
  ]).action(runOn(async () => (await import("../commands/outbox.ts")).retry));
  command(outbox, "drop <id>", "give one up", ["outbox drop 01M82DHT2NBR4NHKVP00000002"]).action(
    runOn(async () => (await import("../commands/outbox.ts")).drop),
  );
}
