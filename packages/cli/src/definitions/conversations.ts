import type { Command } from "commander";
import { type Actions, command } from "./command.ts";

export function addConversations(program: Command, { run, runOn }: Actions): void {
  command(program, "send <text...>", "send one message to an agent and print its reply")
    .option("--agent <id>", "which agent")
    .option("--conversation <name>", "which conversation", "cli")
    .action(runOn(async () => (await import("../commands/talk.ts")).send));
  command(program, "chat", "talk to an agent in the terminal")
    .option("--agent <id>", "which agent")
    .option("--conversation <name>", "which conversation", "cli")
    .action(run(async () => (await import("../commands/talk.ts")).chat));
  command(program, "sessions", "list the conversations").action(
    run(async () => (await import("../commands/inspect.ts")).sessions),
  );
  command(program, "trace <message>", "show every stage a message went through").action(
    runOn(async () => (await import("../commands/inspect.ts")).trace),
  );
  command(program, "why <message>", "say in short why a message was routed and answered as it was").action(
    runOn(async () => (await import("../commands/inspect.ts")).why),
  );
}

export function addOutbox(outbox: Command, { run, runOn }: Actions): void {
  command(outbox, "list", "list them")
    .option("--all", "also those that wait or are being sent")
    .action(run(async () => (await import("../commands/outbox.ts")).list));
  command(outbox, "retry <id>", "send one again, at once where the gateway runs").action(
    runOn(async () => (await import("../commands/outbox.ts")).retry),
  );
  command(outbox, "drop <id>", "give one up").action(
    runOn(async () => (await import("../commands/outbox.ts")).drop),
  );
}
