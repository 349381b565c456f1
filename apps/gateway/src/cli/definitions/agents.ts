import type { Command } from "commander";
import { type Actions, command, count } from "./command.ts";

export function addSkills(skills: Command, { run, runOn }: Actions): void {
  command(skills, "list", "list skills with their source", ["skills list"]).action(
    run(async () => (await import("../commands/skills.ts")).list),
  );
  command(skills, "check", "list the skills that cannot be used, and why", ["skills check"]).action(
    run(async () => (await import("../commands/skills.ts")).check),
  );
  command(skills, "changes", "show skills that are new or changed and wait for an owner, line by line", [
    "skills changes",
  ]).action(run(async () => (await import("../commands/skills.ts")).changes));
  command(
    skills,
    "add <path>",
    "add a folder or a ZIP file as a skill, which then waits for an owner's approval",
    ["skills add ./standup", "skills add ./standup.zip", "skills add ./standup --agent coder"],
  )
    .option("--agent <id>", "the agent that gets it; default: the default agent")
    .action(runOn(async () => (await import("../commands/skill-add.ts")).add));
  command(
    skills,
    "install <name>",
    "show the commands that install what a skill needs, and run them once you agree",
    ["skills install github", "skills install github --with brew --yes"],
  )
    .option("--with <id>", "installation method; default: the first that works on this machine")
    .option("--yes", "do not ask for confirmation")
    .action(runOn(async () => (await import("../commands/skill-install.ts")).install));
  command(skills, "approve <name>", "approve a skill exactly as `changes` showed it", [
    "skills approve weather --hash 5d41402abc4b2a76b9719d911017c592",
  ])
    .requiredOption("--hash <hash>", "the hash that `changes` showed")
    .action(runOn(async () => (await import("../commands/skills.ts")).approve));
}

export function addMcp(mcp: Command, { run, runOn }: Actions): void {
  command(
    mcp,
    "list",
    "list the configured servers, and which agents may use their tools; starts none",
    ["mcp list"],
    {
      isDefault: true,
    },
  ).action(run(async () => (await import("../commands/mcp.ts")).list));
  command(mcp, "tools [server]", "start the servers, and list their tools and which agents have them", [
    "mcp tools",
    "mcp tools files --json",
  ]).action(runOn(async () => (await import("../commands/mcp.ts")).tools));
  command(mcp, "changes [server]", "start the servers, and show tools that differ from what was accepted", [
    "mcp changes",
  ]).action(runOn(async () => (await import("../commands/mcp.ts")).changes));
  command(mcp, "accept <server>", "accept the tools of a server exactly as `changes` showed them", [
    "mcp accept files --hash 9f86d081884c7d659a2feaa0c55ad015",
  ])
    .requiredOption("--hash <hash>", "the hash that `changes` showed")
    .action(runOn(async () => (await import("../commands/mcp.ts")).accept));
  command(mcp, "login <server>", "sign in at a server of the running gateway, in a browser", [
    "mcp login tickets",
    "mcp login tickets --issuer https://login.example.org",
  ])
    .option("--issuer <url>", "confirm an authorization server on another host than the MCP server")
    .action(runOn(async () => (await import("../commands/mcp-sign-in.ts")).login));
  command(mcp, "logout <server>", "sign out of a server, and revoke the tokens", [
    "mcp logout tickets",
  ]).action(runOn(async () => (await import("../commands/mcp-sign-in.ts")).logout));
  command(mcp, "status", "show the servers of the running gateway and the sign-ins at them", [
    "mcp status",
  ]).action(run(async () => (await import("../commands/mcp-sign-in.ts")).status));
}

export function addMemory(memory: Command, { run, runOn }: Actions): void {
  const about = (name: string, description: string, example: string) =>
    command(memory, name, description, [example]).option(
      "--agent <id>",
      "the agent; default: the default agent",
    );
  about(
    "search <query...>",
    "search notes and conversations, of all people",
    "memory search birthday of Anna",
  )
    .option("--limit <count>", "maximum number of results", count, 10)
    .action(runOn(async () => (await import("../commands/memory.ts")).search));
  about("index", "rebuild the index from the files and the conversations", "memory index").action(
    run(async () => (await import("../commands/memory.ts")).index),
  );
  about("log", "list earlier versions of MEMORY.md", "memory log --agent coder").action(
    run(async () => (await import("../commands/memory.ts")).log),
  );
  about("restore <version>", "restore an earlier state of MEMORY.md", "memory restore 3").action(
    runOn(async () => (await import("../commands/memory.ts")).restore),
  );
}
