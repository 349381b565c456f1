import { type Command, Option } from "commander";
import { type Actions, command, count } from "./command.ts";

const USAGE_GROUPS = ["message", "day", "agent", "session", "sender", "model"] as const;

export function addConversations(program: Command, { run, runOn }: Actions): void {
  command(
    program,
    "send <text...>",
    "send one message to an agent and print its reply; - reads it from standard input",
    [
      `send "list the files"`,
      "send - < question.txt",
      `send --agent coder --conversation nightly --json "run the tests"`,
    ],
  )
    .option("--agent <id>", "agent to talk to; default: the default agent")
    .option("--conversation <name>", "name of the conversation", "cli")
    .action(runOn(async () => (await import("../commands/talk.ts")).send));
  command(program, "chat", "talk to an agent in the terminal", ["chat", "chat --agent coder"])
    .option("--agent <id>", "agent to talk to; default: the default agent")
    .option("--conversation <name>", "name of the conversation", "cli")
    .action(run(async () => (await import("../commands/talk.ts")).chat));
}

export function addMessages(program: Command, { run, runOn }: Actions): void {
  command(program, "messages", "list the latest messages on all channels", [
    "messages",
    "messages --limit 5 --json",
  ])
    .option("--limit <count>", "maximum number to list", count, 20)
    .option("--session <key>", "only those of one session; its key as listed by `sessions`")
    .action(run(async () => (await import("../commands/messages.ts")).messages));
  command(
    program,
    "why [message]",
    "explain why a message was answered or not; default: the latest message",
    ["why", "why om_4f2c --details"],
  )
    .option("--details", "show every step")
    .action(runOn(async () => (await import("../commands/why.ts")).why));
  command(program, "trace [message]", "show every trace entry of a message; default: the latest message", [
    "trace",
    "trace om_4f2c --json",
  ]).action(runOn(async () => (await import("../commands/why.ts")).trace));
  command(program, "prompt <agent>", "show the sections of an agent's last prompt, and their cost", [
    "prompt main",
    "prompt main --session agent:main:feishu:direct:ou_1 --json",
  ])
    .option("--session <key>", "the last prompt of one session; its key as listed by `sessions`")
    .action(runOn(async () => (await import("../commands/prompt.ts")).prompt));
}

export function addCron(cron: Command, { run, runOn }: Actions): void {
  command(cron, "list", "list schedules and heartbeats", ["cron list"], { isDefault: true }).action(
    run(async () => (await import("../commands/cron.ts")).list),
  );
  command(cron, "add <text...>", "schedule a message to an agent, in a conversation or on the page", [
    `cron add --cron "0 9 * * 1-5" --zone Europe/Berlin "Say what is new in the repository."`,
    `cron add --in 2h --session agent:main:feishu:direct:ou_1 "Remind me of the call."`,
  ])
    .option("--at <time>", "once, at a time such as 2026-12-24T18:00")
    .option("--in <span>", "once, after this time: 2h 30m")
    .option("--every <span>", "repeatedly, at an interval such as 1d")
    .option("--cron <expression>", "repeatedly, by a cron expression such as 0 9 * * 1-5")
    .option(
      "--zone <name>",
      "time zone of the time or the expression; default: that of the gateway's machine",
    )
    .addOption(
      new Option(
        "--missed <policy>",
        "whether to run a schedule once or skip it if it became due while no gateway was running",
      ).choices(["once", "skip"]),
    )
    .option(
      "--session <key>",
      "session key, as listed by `sessions`; an owner must have written in the session",
    )
    .option("--agent <id>", "the agent, in a separate conversation on the page; default: the default agent")
    .action(runOn(async () => (await import("../commands/cron.ts")).add));
  command(cron, "remove <id>", "remove a schedule", ["cron remove 4f2c9a1e"]).action(
    runOn(async () => (await import("../commands/cron.ts")).remove),
  );
  command(cron, "run <id>", "trigger a schedule now, without changing its regular times", [
    "cron run 4f2c9a1e",
  ]).action(runOn(async () => (await import("../commands/cron.ts")).run));
}

export function addUsage(program: Command, { run }: Actions): void {
  command(program, "usage", "show the agents' token usage and cost, as reported by the vendors", [
    "usage",
    "usage --by message --days 1",
    "usage --by sender --days 7",
    "usage --by model --days 30",
    "usage --by agent --json",
    "usage --budgets",
  ])
    .addOption(new Option("--by <what>", "grouping of the totals").choices(USAGE_GROUPS).default("day"))
    .addOption(
      new Option(
        "--budgets",
        "show the remaining amount of each budget, by the agent, channel or sender that it belongs to",
      ).conflicts(["by", "days"]),
    )
    .option(
      "--days <count>",
      "only the last days (UTC), including today; default: 7 with `--by message`, otherwise all",
      count,
    )
    .action(run(async () => (await import("../commands/usage.ts")).usage));
}

export function addSessions(sessions: Command, { run, runOn, runOnTwo }: Actions): void {
  command(sessions, "list", "list sessions", ["sessions"], { isDefault: true }).action(
    run(async () => (await import("../commands/sessions.ts")).list),
  );
  command(
    sessions,
    "show <session>",
    "show a session with its latest messages; the end of its key is enough",
    ["sessions show direct:cli --limit 5"],
  )
    .option("--limit <count>", "maximum number of messages", count, 20)
    .action(runOn(async () => (await import("../commands/sessions.ts")).show));
  command(sessions, "rename <session> <title>", "set the title of a session", [
    `sessions rename direct:cli "Files of June"`,
  ]).action(runOnTwo(async () => (await import("../commands/sessions.ts")).rename));
  command(sessions, "reset <session>", "reset a session, like /new; only while no gateway is running", [
    "sessions reset direct:cli",
  ]).action(runOn(async () => (await import("../commands/sessions.ts")).reset));
}

export function addOutbox(outbox: Command, { run, runOn }: Actions): void {
  command(outbox, "list", "list undelivered replies", ["outbox list", "outbox list --all"])
    .option("--all", "include replies that are waiting or being sent")
    .action(run(async () => (await import("../commands/outbox.ts")).list));
  command(outbox, "retry <id>", "send a reply again; a running gateway sends it immediately", [
    "outbox retry 01M82DHT2NBR4NHKVP00000002",
  ]).action(runOn(async () => (await import("../commands/outbox.ts")).retry));
  command(outbox, "drop <id>", "discard a reply permanently", [
    "outbox drop 01M82DHT2NBR4NHKVP00000002",
  ]).action(runOn(async () => (await import("../commands/outbox.ts")).drop));
}
