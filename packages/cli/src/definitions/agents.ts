import type { Command } from "commander";
import { type Actions, command, count } from "./command.ts";

export function addSkills(skills: Command, { run, runOn }: Actions): void {
  command(skills, "list", "list them with their source", ["skills list"]).action(
    run(async () => (await import("../commands/skills.ts")).list),
  );
  command(skills, "check", "say which cannot be used, and why", ["skills check"]).action(
    run(async () => (await import("../commands/skills.ts")).check),
  );
  command(skills, "changes", "show what is new or has changed and waits for an owner, line by line", [
    "skills changes",
  ]).action(run(async () => (await import("../commands/skills.ts")).changes));
  command(skills, "install <name>", "show how what a skill needs is installed, and do so once you agree", [
    "skills install github",
    "skills install github --with brew --yes",
  ])
    .option("--with <id>", "which of the ways that the skill knows; default: the first that works here")
    .option("--yes", "do not ask")
    .action(runOn(async () => (await import("../commands/skill-install.ts")).install));
  command(skills, "approve <name>", "let a skill count as `changes` showed it", [
    "skills approve weather --hash 5d41402a",
  ])
    .requiredOption("--hash <hash>", "of what was shown")
    .action(runOn(async () => (await import("../commands/skills.ts")).approve));
}

export function addMcp(mcp: Command, { run, runOn }: Actions): void {
  command(
    mcp,
    "list",
    "list those of the configuration, and whose tools may name theirs; starts none",
    ["mcp list"],
    {
      isDefault: true,
    },
  ).action(run(async () => (await import("../commands/mcp.ts")).list));
  command(mcp, "tools [server]", "start them, and list what they offer and which agents have it", [
    "mcp tools",
    "mcp tools files --json",
  ]).action(runOn(async () => (await import("../commands/mcp.ts")).tools));
}

export function addMemory(memory: Command, { run, runOn }: Actions): void {
  const about = (name: string, description: string, example: string) =>
    command(memory, name, description, [example]).option(
      "--agent <id>",
      "whose; default: the default agent's",
    );
  about(
    "search <query...>",
    "search notes and conversations, those of all people",
    "memory search birthday of Anna",
  )
    .option("--limit <count>", "how many", count, 10)
    .action(runOn(async () => (await import("../commands/memory.ts")).search));
  about("index", "make the index anew from the files and the conversations", "memory index").action(
    run(async () => (await import("../commands/memory.ts")).index),
  );
  about("log", "list earlier states of MEMORY.md", "memory log --agent coder").action(
    run(async () => (await import("../commands/memory.ts")).log),
  );
  about("restore <version>", "take MEMORY.md back to one of them", "memory restore 3").action(
    runOn(async () => (await import("../commands/memory.ts")).restore),
  );
}
