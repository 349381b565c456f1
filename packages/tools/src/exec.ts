import { join } from "node:path";
import { reasonOf, type ToolContext, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import type { Processes } from "./background/processes.ts";
import { defineTool, type ToolDefinition } from "./define.ts";
import { resultOf } from "./exec-result.ts";
import { IDENTITY_FILES, IDENTITY_FOLDERS } from "./files/identity-files.ts";
import { INBOX_FOLDER, PEOPLE_FOLDER } from "./files/places.ts";
import { viewOf } from "./labels/covers.ts";
import { isForeign } from "./labels/label.ts";
import { contentRoom, failure, success } from "./result.ts";
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
  /** Hosts that commands may reach, if policy allows it: `example.org`, `*.example.org`, `example.org:8443`. */
  readonly domains?: readonly string[];
  /** Additional environment variables for commands, requested before each. Default: none. */
  readonly environment?: CommandEnvironment;
  /** Where background commands are kept. Default: none can be started. */
  readonly processes?: Processes;
}

/** Environment variables for commands, in addition to those that the sandbox gives all of them. */
export type CommandEnvironment = () => Promise<Readonly<Record<string, string>>>;

/** In UTF-8 at most 120,000 bytes: Linux takes 131,071 for one argument. */
const MAX_COMMAND_CHARS = 40_000;
/** What a command fetches is others' words: so is what it prints from then on, and what it writes. */
const FROM_NETWORK: TaintMark = { source: "web", detail: "what a command fetched" };
/** Progress reports are no closer together, in milliseconds. */
const UPDATE_MS = 250;
/** How long a background command is watched before its run continues, in milliseconds. */
const FIRST_LOOK_MS = 500;

/** `exec`: a shell command in the sandbox. External: no one knows what it did, so it is never repeated blindly. */
export function createExecTool(options: ExecToolOptions): ToolDefinition {
  const { workspace, sandbox, domains = [] } = options;
  const reachable = sandbox.rung === "bubblewrap" ? domains : [];
  const seconds = Math.floor(sandbox.limits.timeoutMs / 1000);
  const minutes = Math.floor(sandbox.limits.backgroundMs / 60_000);
  // Without a sandbox nothing would end a command whose gateway was killed.
  const canStay = options.processes !== undefined && sandbox.rung === "bubblewrap";
  const afterwards = canStay
    ? `with \`background\` it keeps running for up to ${minutes} minutes, see process`
    : "nothing keeps running afterwards";
  return defineTool({
    name: "exec",
    description: `Run a shell command in the working folder. ${confinement(sandbox, reachable)}It may take ${seconds} seconds; ${afterwards}.`,
    inputSchema: argsSchema(sandbox, reachable, canStay),
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
    isCovered: async (args, rules) => canBeCovered(args) && isCovered(await parseShell(args.command), rules),
    subject: (args, facts) => subjectOf(options, args, facts),
    async run({ args }, context, permit) {
      if (sandbox.rung === "disabled") {
        return failure(
          `exec is not available here: ${sandbox.reason ?? ""} Continue without it, or tell the person.`,
        );
      }
      try {
        const changed = await changedFile(options, args, permit);
        if (changed !== undefined)
          return failure(`${changed} has changed since it was approved. Nothing was run.`);
        return args.background === true
          ? await startInBackground(options, args, context, permit)
          : await runCommand(options, args, context, permit);
      } catch (error) {
        if (error instanceof WorkspaceError) return failure(error.message, { code: error.code });
        return failure(`The command did not run: ${reasonOf(error)}`);
      }
    },
  });
}

function confinement({ network }: Sandbox, domains: readonly string[]): string {
  if (network) return "";
  const reach = domains.length === 0 ? "There is no network" : "There is no network unless requested";
  return `${reach}, and only the working folder can be written. `;
}

const NOTHING_MORE: CommandEnvironment = async () => ({});

interface ExecArgs {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly timeout_seconds?: number | undefined;
  readonly network?: boolean | undefined;
  readonly background?: boolean | undefined;
  readonly pty?: boolean | undefined;
}

/** @param domains hosts that can be reached; without any there is nothing to ask for */
function argsSchema(
  { limits, terminal = false }: Sandbox,
  domains: readonly string[],
  canStay: boolean,
): z.ZodType<ExecArgs> {
  const seconds = Math.floor(limits.timeoutMs / 1000);
  const plain = z.object({
    command: z.string().min(1).max(MAX_COMMAND_CHARS).describe("Shell text"),
    cwd: z.string().min(1).optional().describe("Folder to run in, relative to the working folder"),
    timeout_seconds: z.number().positive().max(seconds).optional().describe(`Default ${seconds}`),
  });
  const inTerminal = z.boolean().optional().describe("In a terminal");
  const staying = canStay ? plain.extend({ background: z.boolean().optional() }) : plain;
  const schema = terminal ? staying.extend({ pty: inTerminal }) : staying;
  if (domains.length === 0) return schema;
  const what = `Whether it needs the network. Through a proxy (HTTPS_PROXY), it can reach: ${domains.join(", ")}`;
  return schema.extend({ network: z.boolean().optional().describe(what) });
}

/** What a person is shown: the command, where and with what it runs, and the files that it names. */
async function subjectOf(
  { workspace, sandbox, domains, environment = NOTHING_MORE }: ExecToolOptions,
  args: ExecArgs,
  facts: RunFacts,
): Promise<ApprovalSubject> {
  const cwd = await folderOf(workspace, args.cwd);
  const script = await parseShell(args.command);
  const files = await namedFiles(workspace, cwd, script.words, facts);
  const rules = canBeCovered(args) ? rulesFor(script) : undefined;
  const names = Object.keys(await environment());
  return {
    action: actionOf(args, sandbox),
    cwd,
    // Further variables may hold keys, which no question tells.
    env: { ...Object.fromEntries(names.map((name) => [name, "(configured)"])), ...sandbox.env },
    binary: sandbox.shell,
    ...(args.network === true && domains !== undefined ? { domains } : {}),
    ...(files.length === 0 ? {} : { files }),
    ...(rules === undefined ? {} : { rules }),
  };
}

/** A rule says nothing of the network, nor of a terminal, in which programs do more: `git log` starts a pager there. */
function canBeCovered({ network, pty }: ExecArgs): boolean {
  return network !== true && pty !== true;
}

function actionOf({ command, background, pty }: ExecArgs, { limits }: Sandbox): string {
  const minutes = Math.floor(limits.backgroundMs / 60_000);
  return [
    command,
    ...(pty === true ? ["[in a terminal]"] : []),
    ...(background === true ? [`[in the background, for up to ${minutes} minutes]`] : []),
  ].join("\n");
}

/** A file that is not as it was shown, right before the command that names it would start. */
async function changedFile(
  { workspace }: ExecToolOptions,
  args: ExecArgs,
  { subject, run }: Permit,
): Promise<string | undefined> {
  if (subject === undefined) return undefined;
  const hashes = (files: ApprovalSubject["files"]) =>
    new Map((files ?? []).map(({ path, sha256 }) => [path, sha256]));
  const cwd = await folderOf(workspace, args.cwd);
  const { words } = await parseShell(args.command);
  const before = hashes(subject.files);
  const now = hashes(await namedFiles(workspace, cwd, words, run.facts));
  return [...new Set([...before.keys(), ...now.keys()])].find((path) => before.get(path) !== now.get(path));
}

/**
 * What a command is started with: it sees what its run may believe, and what it changes is labelled with its author.
 */
async function begin(options: ExecToolOptions, args: ExecArgs, facts: RunFacts) {
  const { workspace, sandbox, domains, environment = NOTHING_MORE } = options;
  const env = await environment();
  const { additions } = workspace.labels;
  const cwd = await folderOf(workspace, args.cwd);
  const reached = args.network === true ? domains : undefined;
  const author = reached === undefined ? facts : { ...facts, taint: [...facts.taint, FROM_NETWORK] };
  const view = await viewOf(workspace.labels, workspace.dir, facts);
  const followed = await workspace.labels.follow({
    additions,
    folder: workspace.dir,
    facts: author,
    skip: new Set([join(workspace.dir, INBOX_FOLDER)]),
    covered: view.covers.map(({ path }) => path),
  });
  return {
    view,
    followed,
    additions,
    author,
    start: (more: Pick<SandboxRequest, "signal" | "outputChars" | "onOutput" | "background" | "input">) =>
      sandbox.run({
        script: args.command,
        folders: workspace,
        cwd,
        protect: protection(facts),
        covers: view.covers,
        env,
        ...(reached === undefined ? {} : { domains: reached }),
        ...(args.pty === true ? { terminal: true } : {}),
        ...(args.timeout_seconds === undefined ? {} : { timeoutMs: args.timeout_seconds * 1000 }),
        ...more,
      }),
  };
}

async function runCommand(
  options: ExecToolOptions,
  args: ExecArgs,
  context: ToolContext,
  { run }: Permit,
): Promise<ToolResult> {
  const { facts } = run;
  const { view, followed, author, start } = await begin(options, args, facts);
  let outcome: SandboxOutcome;
  try {
    const { signal, update } = context;
    outcome = await start({ signal, outputChars: contentRoom(context), onOutput: reporting(update) });
  } finally {
    for (const mark of author.taint) run.taint(mark);
    const met = await followed.end();
    if (met !== undefined) run.taint({ source: met.source, detail: "files that changed meanwhile" });
  }
  const name = view.names.find((each) => mentions(outcome.output, each));
  if (name !== undefined) run.taint({ source: "file", detail: `the name ${name}` });
  return resultOf(outcome, options.sandbox, facts.taint.length === 0 ? view : undefined);
}

/** The command outlives its turn; what is shown of it later taints as it would now, or as what came meanwhile does. */
async function startInBackground(
  options: ExecToolOptions,
  args: ExecArgs,
  context: ToolContext,
  { run }: Permit,
): Promise<ToolResult> {
  const { processes, sandbox, workspace } = options;
  if (processes === undefined || sandbox.rung !== "bubblewrap")
    return failure("Nothing can run in the background here.");
  const { view, followed, additions, author, start } = await begin(options, args, run.facts);
  const outputChars = contentRoom(context);
  const process = processes.start({
    sessionKey: author.sessionKey,
    command: args.command,
    // What reaches the network takes nothing from a run that has seen others' words, whoever started it.
    facts: args.network === true ? { ...run.facts, taint: [] } : run.facts,
    run: (io) => start({ ...io, outputChars, background: true }).finally(() => followed.end()),
    taintOf(output) {
      if (author.taint.length > 0) return author.taint;
      const { labels, dir } = workspace;
      const changed = labels.additions !== additions || labels.changing(dir, author) !== undefined;
      const name = view.names.find((each) => mentions(output, each));
      return [
        ...(changed ? [{ source: "file", detail: "files that changed meanwhile" } as const] : []),
        ...(name === undefined ? [] : [{ source: "file", detail: `the name ${name}` } as const]),
      ];
    },
  });
  if (typeof process === "string") {
    await followed.end();
    return failure(process);
  }
  await process.wait(FIRST_LOOK_MS);
  for (const mark of process.taintOf(process.output())) run.taint(mark);
  const end = process.end();
  if (end === undefined)
    return success(`${process.output()}[${process.id} is running in the background; see process]`, {
      id: process.id,
    });
  processes.forget(process);
  return typeof end === "string"
    ? failure(`The command did not run: ${end}`)
    : resultOf(end, sandbox, author.taint.length === 0 ? view : undefined);
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
  const isOpen = rung === "none" && (view.hides || view.names.length > 0);
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

/**
 * What the agent is and remembers is written by owners alone: an approval of a command does not show what it writes.
 * The folders of others are there for every command, to be covered.
 */
function protection({ role, taint }: RunFacts): SandboxRequest["protect"] {
  const ofOthers = [INBOX_FOLDER, PEOPLE_FOLDER];
  const isOwners = role === "owner" && taint.length === 0;
  return isOwners
    ? { files: [], folders: ofOthers }
    : { files: IDENTITY_FILES, folders: [...IDENTITY_FOLDERS, ...ofOthers] };
}

async function folderOf(workspace: Workspace, path: string | undefined): Promise<string> {
  if (path === undefined) return workspace.dir;
  const folder = await workspace.locateFolder(path);
  if (folder !== workspace.dir && !folder.startsWith(`${workspace.dir}/`)) {
    throw new WorkspaceError("outside", `${path} is outside the workspace; commands run inside it.`);
  }
  return folder;
}
