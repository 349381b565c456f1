import { join } from "node:path";
import type { JsonObject, ToolContext, ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { IDENTITY_FILES, IDENTITY_FOLDERS } from "./files/identity-files.ts";
import { INBOX_FOLDER } from "./files/places.ts";
import { count } from "./files/text.ts";
import { type View, viewOf } from "./labels/covers.ts";
import { isForeign } from "./labels/label.ts";
import { contentRoom, failure, messageOf } from "./result.ts";
import type { Sandbox, SandboxOutcome, SandboxRequest } from "./sandbox/types.ts";
import { namedFiles } from "./shell/named-files.ts";
import { parseShell } from "./shell/parse.ts";
import { isCovered, rulesFor } from "./shell/standing-rules.ts";
import type { ApprovalSubject, Permit, RunFacts, TaintMark } from "./types.ts";
import { WorkspaceError } from "./workspace/errors.ts";
import type { Workspace } from "./workspace/workspace.ts";

export interface ExecToolOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Hosts that commands may reach, where policy lets them: `example.org`, `*.example.org`, `example.org:8443`. */
  readonly domains?: readonly string[];
}

/** In UTF-8 at most 120,000 bytes: Linux takes 131,071 for one argument. */
const MAX_COMMAND_CHARS = 40_000;
/** What a command fetches is others' words: so is what it prints from then on, and what it writes. */
const FROM_NETWORK: TaintMark = { source: "web", detail: "what a command fetched" };
/** Progress reports are no closer together, in milliseconds. */
const UPDATE_MS = 250;

/** `exec`: a shell command in the sandbox. External: nobody knows what it did, so it is never repeated blindly. */
export function createExecTool(options: ExecToolOptions): ToolDefinition {
  const { workspace, sandbox, domains = [] } = options;
  const reachable = sandbox.rung === "bubblewrap" ? domains : [];
  const seconds = Math.floor(sandbox.limits.timeoutMs / 1000);
  return defineTool({
    name: "exec",
    description: `Run a shell command in the working folder. ${confinement(sandbox, reachable)}It may take ${seconds} seconds; nothing goes on running afterwards.`,
    inputSchema: argsSchema(seconds, reachable),
    effects: "external",
    truncate: "head-tail",
    exposes: async ({ cwd }, facts) => {
      const folder =
        cwd === undefined ? workspace.dir : await workspace.locateFolder(cwd).catch(() => undefined);
      return folder === undefined || facts.taint.length > 0
        ? []
        : exposedTo(workspace, sandbox, folder, facts);
    },
    claims: (args) =>
      sandbox.network || args.network === true
        ? [{ kind: "exec-network", detail: args.command.split("\n", 1)[0]?.slice(0, 120) ?? "" }]
        : [],
    isCovered: async ({ command, network }, rules) =>
      network !== true && isCovered(await parseShell(command), rules),
    subject: (args) => subjectOf(options, args),
    async run({ args }, context, permit) {
      if (sandbox.rung === "disabled") {
        return failure(
          `exec is not available here: ${sandbox.reason ?? ""} Do without it, or tell the person.`,
        );
      }
      try {
        const changed = permit.subject && (await changedFile(options, args, permit.subject));
        if (changed !== undefined) return failure(`${changed} is not what was approved. Nothing was run.`);
        return await runCommand(options, args, context, permit);
      } catch (error) {
        if (error instanceof WorkspaceError) return failure(error.message, { code: error.code });
        return failure(`The command did not run: ${messageOf(error)}`);
      }
    },
  });
}

function confinement({ network }: Sandbox, domains: readonly string[]): string {
  if (network) return "";
  const reach = domains.length === 0 ? "There is no network" : "There is no network unless it is asked for";
  return `${reach}, and only the working folder can be written. `;
}

interface ExecArgs {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly timeout_seconds?: number | undefined;
  readonly network?: boolean | undefined;
}

/** @param domains hosts that can be reached; without any there is nothing to ask for */
function argsSchema(seconds: number, domains: readonly string[]): z.ZodType<ExecArgs> {
  const schema = z.object({
    command: z.string().min(1).max(MAX_COMMAND_CHARS).describe("Shell text; several lines are fine"),
    cwd: z.string().min(1).optional().describe("Folder to run in, relative to the working folder"),
    timeout_seconds: z.number().positive().max(seconds).optional().describe(`Default ${seconds}`),
  });
  if (domains.length === 0) return schema;
  const what = `Whether it needs the network, of which it reaches through a proxy (HTTPS_PROXY): ${domains.join(", ")}`;
  return schema.extend({ network: z.boolean().optional().describe(what) });
}

/** What a person is asked about: the command, where and by what it runs, and the files that it names. */
async function subjectOf(
  { workspace, sandbox, domains }: ExecToolOptions,
  args: ExecArgs,
): Promise<ApprovalSubject> {
  const cwd = await folderOf(workspace, args.cwd);
  const script = await parseShell(args.command);
  const files = await namedFiles(workspace, cwd, script.words);
  const rules = rulesFor(script);
  return {
    ...{ action: args.command, cwd, env: sandbox.env, binary: sandbox.shell },
    ...(args.network === true && domains !== undefined ? { domains } : {}),
    ...(files.length === 0 ? {} : { files }),
    ...(rules === undefined ? {} : { rules }),
  };
}

/** A file that is not as it was shown, right before the command that names it would start. */
async function changedFile(
  options: ExecToolOptions,
  args: ExecArgs,
  approved: ApprovalSubject,
): Promise<string | undefined> {
  const hashes = (files: ApprovalSubject["files"]) =>
    new Map((files ?? []).map(({ path, sha256 }) => [path, sha256]));
  const [before, now] = [hashes(approved.files), hashes((await subjectOf(options, args)).files)];
  return [...new Set([...before.keys(), ...now.keys()])].find((path) => before.get(path) !== now.get(path));
}

/** The command sees what its run may believe, and what it changes is labelled with its run's author. */
async function runCommand(
  { workspace, sandbox, domains }: ExecToolOptions,
  args: ExecArgs,
  context: ToolContext,
  { run }: Permit,
): Promise<ToolResult> {
  const { facts } = run;
  const reached = args.network === true ? domains : undefined;
  const { additions } = workspace.labels;
  const view = await viewOf(workspace.labels, workspace.dir, facts);
  const followed = await workspace.labels.follow({
    additions,
    ...{ folder: workspace.dir, skip: new Set([join(workspace.dir, INBOX_FOLDER)]) },
    facts: reached === undefined ? facts : { ...facts, taint: [...facts.taint, FROM_NETWORK] },
    covered: view.covers.map(({ path }) => path),
  });
  let outcome: SandboxOutcome;
  try {
    outcome = await sandbox.run({
      script: args.command,
      folders: workspace,
      cwd: await folderOf(workspace, args.cwd),
      protect: protection(facts),
      covers: view.covers,
      ...(reached === undefined ? {} : { domains: reached }),
      signal: context.signal,
      outputChars: contentRoom(context),
      ...(args.timeout_seconds === undefined ? {} : { timeoutMs: args.timeout_seconds * 1000 }),
      onOutput: reporting(context.update),
    });
  } finally {
    if (reached !== undefined) run.taint(FROM_NETWORK);
    const met = await followed.end();
    if (met !== undefined) run.taint({ source: met.source, detail: "files that changed meanwhile" });
  }
  const name = view.names.find((each) => mentions(outcome.output, each));
  if (name !== undefined) run.taint({ source: "file", detail: `the name ${name}` });
  return resultOf(outcome, sandbox, facts.taint.length === 0 ? view : undefined);
}

/** What a command would see of others' words, whatever it does; decided about before it runs. */
async function exposedTo(
  { labels, dir }: Workspace,
  { rung }: Sandbox,
  folder: string,
  facts: RunFacts,
): Promise<readonly TaintMark[]> {
  const open = labels.changing(dir, facts);
  if (open !== undefined) return [{ source: open.author.source, detail: "files that change just now" }];
  const inside = labels.of(folder);
  if (inside !== undefined && isForeign(inside, facts))
    return [{ source: inside.source, detail: "its folder" }];
  const view = await viewOf(labels, dir, facts);
  // Nothing can be covered where there is no sandbox.
  const isOpen = rung === "none" && (view.covers.length > 0 || view.names.length > 0);
  if (isOpen) return [{ source: "file", detail: "files in the workspace" }];
  return view.exposed.map(({ source, path }) => ({ source, detail: path.slice(dir.length + 1) }));
}

function reporting(update: ToolContext["update"]): (output: string) => void {
  let last = performance.now();
  return (output) => {
    if (performance.now() - last < UPDATE_MS) return;
    last = performance.now();
    update({ content: [{ type: "text", text: output }] });
  };
}

/** Whether a text has a name in it, not as a part of a longer word. */
function mentions(text: string, name: string): boolean {
  const letters = /[\p{L}\p{N}]/u;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const around = [text.charAt(at - 1), text.charAt(at + name.length)];
    if (!around.some((character) => letters.test(character))) return true;
  }
  return false;
}

/** What the agent is and remembers is written by owners alone: an approval of a command does not show what it writes. */
function protection({ role, taint }: RunFacts): SandboxRequest["protect"] {
  const isOwners = role === "owner" && taint.length === 0;
  return isOwners ? { files: [], folders: [] } : { files: IDENTITY_FILES, folders: IDENTITY_FOLDERS };
}

async function folderOf(workspace: Workspace, path: string | undefined): Promise<string> {
  if (path === undefined) return workspace.dir;
  const folder = await workspace.locateFolder(path);
  if (folder !== workspace.dir && !folder.startsWith(`${workspace.dir}/`)) {
    throw new WorkspaceError("outside", `${path} is outside the workspace; commands run inside it.`);
  }
  return folder;
}

/** @param view given where files were kept from a command that it might have wanted */
function resultOf(outcome: SandboxOutcome, sandbox: Sandbox, view: View | undefined): ToolResult {
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
  const covered = view?.covers.length ?? 0;
  const hint =
    covered > 0 ? "; what others sent or wrote was not visible to it: `read` such a file first" : "";
  const text = `${output}[${ending(outcome, sandbox)}${outcome.exitCode === 0 ? "" : hint}]`;
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
    case "disk":
      return "stopped: it wrote too much to the disk, or the disk is nearly full";
    case "memory":
      return `stopped: more than ${count(Math.round(limits.memoryBytes / 1_048_576))} MB of memory`;
  }
}
