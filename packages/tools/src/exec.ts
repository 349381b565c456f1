import type { JsonObject, ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { IDENTITY_FILES, IDENTITY_FOLDERS } from "./files/identity-files.ts";
import { count } from "./files/text.ts";
import { contentRoom, failure, messageOf } from "./result.ts";
import type { Sandbox, SandboxOutcome } from "./sandbox/types.ts";
import type { Permit } from "./types.ts";
import { WorkspaceError } from "./workspace/errors.ts";
import type { Workspace } from "./workspace/workspace.ts";

export interface ExecToolOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Folders that hold what others sent: a command that names one taints the run. Default none. */
  readonly foreign?: readonly string[];
}

/** In UTF-8 at most 120,000 bytes: Linux takes 131,071 for one argument. */
const MAX_COMMAND_CHARS = 40_000;
/** Progress reports are no closer together, in milliseconds. */
const UPDATE_MS = 250;

/** `exec`: a shell command in the sandbox. External: nobody knows what it did, so it is never repeated blindly. */
export function createExecTool(options: ExecToolOptions): ToolDefinition {
  const { workspace, sandbox } = options;
  const seconds = Math.floor(sandbox.limits.timeoutMs / 1000);
  return defineTool({
    name: "exec",
    description: `Run a shell command in the working folder. ${sandbox.network ? "" : "There is no network, and only the working folder can be written. "}It may take ${seconds} seconds; nothing goes on running afterwards.`,
    inputSchema: z.object({
      command: z.string().min(1).max(MAX_COMMAND_CHARS).describe("Shell text; several lines are fine"),
      cwd: z.string().min(1).optional().describe("Folder to run in, relative to the working folder"),
      timeout_seconds: z.number().positive().max(seconds).optional().describe(`Default ${seconds}`),
    }),
    effects: "external",
    truncate: "head-tail",
    taintOf: ({ command, cwd = "" }) =>
      options.foreign?.some((folder) => command.includes(folder) || cwd.includes(folder)) === true
        ? "file"
        : undefined,
    claims: (args) =>
      sandbox.network
        ? [{ kind: "exec-network", detail: args.command.split("\n", 1)[0]?.slice(0, 120) ?? "" }]
        : [],
    subject: async (args) => ({
      action: args.command,
      cwd: await folderOf(workspace, args.cwd),
      env: sandbox.env,
      binary: sandbox.shell,
    }),
    async run({ args }, context, permit) {
      const { signal, update } = context;
      if (sandbox.rung === "disabled") {
        return failure(
          `exec is not available here: ${sandbox.reason ?? ""} Do without it, or tell the person.`,
        );
      }
      let lastUpdate = performance.now();
      try {
        const outcome = await sandbox.run({
          script: args.command,
          folders: workspace,
          cwd: await folderOf(workspace, args.cwd),
          protect: protection(permit),
          signal,
          outputChars: contentRoom(context),
          ...(args.timeout_seconds === undefined ? {} : { timeoutMs: args.timeout_seconds * 1000 }),
          onOutput: (output) => {
            if (performance.now() - lastUpdate < UPDATE_MS) return;
            lastUpdate = performance.now();
            update({ content: [{ type: "text", text: output }] });
          },
        });
        return resultOf(outcome, sandbox);
      } catch (error) {
        if (error instanceof WorkspaceError) return failure(error.message, { code: error.code });
        return failure(`The command did not run: ${messageOf(error)}`);
      }
    },
  });
}

/** A run that may not write the agent's own notes with `write` may not do so with a command either. */
function protection({ record, approved }: Permit): {
  readonly files: readonly string[];
  readonly folders: readonly string[];
} {
  const free = approved || (record.taint.length === 0 && record.role !== "guest");
  return free ? { files: [], folders: [] } : { files: IDENTITY_FILES, folders: IDENTITY_FOLDERS };
}

async function folderOf(workspace: Workspace, path: string | undefined): Promise<string> {
  if (path === undefined) return workspace.dir;
  const folder = await workspace.locateFolder(path);
  if (folder !== workspace.dir && !folder.startsWith(`${workspace.dir}/`)) {
    throw new WorkspaceError("outside", `${path} is outside the workspace; commands run inside it.`);
  }
  return folder;
}

function resultOf(outcome: SandboxOutcome, sandbox: Sandbox): ToolResult {
  const details: JsonObject = {
    ...(outcome.exitCode === undefined ? {} : { exitCode: outcome.exitCode }),
    ...(outcome.signal === undefined ? {} : { signal: outcome.signal }),
    ...(outcome.stopped === undefined ? {} : { stopped: outcome.stopped }),
    outputChars: outcome.outputChars,
    durationMs: outcome.durationMs,
    sandbox: sandbox.rung,
  };
  const output =
    outcome.output === "" || outcome.output.endsWith("\n") ? outcome.output : `${outcome.output}\n`;
  const text = `${output}[${ending(outcome, sandbox)}]`;
  const isError = outcome.exitCode !== 0;
  return { content: [{ type: "text", text }], details, ...(isError ? { isError } : {}) };
}

function ending(outcome: SandboxOutcome, { limits }: Sandbox): string {
  if (outcome.stopped === undefined) {
    return outcome.exitCode === undefined
      ? `ended by ${outcome.signal ?? "a signal"}`
      : `exit code ${outcome.exitCode}`;
  }
  switch (outcome.stopped) {
    case "timeout":
      return "stopped: it took too long; do less at once";
    case "abort":
      return "stopped before it ended";
    case "processes":
      return `stopped: more than ${count(limits.processes)} processes`;
    case "output":
      return "stopped: it wrote far too much; send it to a file or filter it";
    case "memory":
      return `stopped: more than ${count(Math.round(limits.memoryBytes / 1_048_576))} MB of memory`;
  }
}
