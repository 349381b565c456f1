import { join } from "node:path";
import { reasonOf, type ToolContext, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import type { Processes } from "./background/processes.ts";
import { defineTool, type ToolDefinition } from "./define.ts";
import { toExecResult } from "./exec-result.ts";
import { IDENTITY_FILES, IDENTITY_FOLDERS } from "./files/identity-files.ts";
import { getVisibleWorkspace, INBOX_FOLDER, PEOPLE_FOLDER } from "./files/places.ts";
import { getView } from "./labels/covers.ts";
import { isForeign } from "./labels/label.ts";
import { indexOfLinear } from "./linear-search.ts";
import { failure, getContentRoom, success } from "./result.ts";
import type { Sandbox, SandboxOutcome, SandboxRequest } from "./sandbox/types.ts";
import { getAllowRules, isCovered } from "./shell/allow-rule.ts";
import { findNamedFiles } from "./shell/named-files.ts";
import { parseShell } from "./shell/parse.ts";
import type { ApprovalSubject, Permit, RunFacts, TaintMark } from "./types.ts";
import { WorkspaceError } from "./workspace/errors.ts";
import type { Workspace } from "./workspace/workspace.ts";

export interface ExecToolOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /**
   * Hosts that commands may reach if the policy allows it: `example.org`, `*.example.org`, `example.org:8443`. Default:
   * none.
   */
  readonly domains?: readonly string[];
  /** Returns additional environment variables. Called before each command. Default: none. */
  readonly environment?: CommandEnvironment;
  /** The background commands of all conversations. Default: commands cannot run in the background. */
  readonly processes?: Processes;
}

/** Returns environment variables for commands, in addition to those of the sandbox. */
export type CommandEnvironment = () => Promise<Readonly<Record<string, string>>>;

/**
 * Maximum length of a command in characters, which is at most 120,000 bytes in UTF-8. Linux accepts 131,071 bytes in
 * one argument.
 */
const MAX_COMMAND_CHARS = 40_000;
/** Taint of a command with network access, of its output and of the files that it writes. */
const NETWORK_TAINT: TaintMark = { source: "web", detail: "what a command fetched" };
/** Minimum time between progress reports, in milliseconds. */
const UPDATE_MS = 250;
/** Time for which `exec` waits for a background command to fail or finish early, in milliseconds. */
const START_WAIT_MS = 500;

/**
 * Creates the tool `exec`, which runs a shell command in the sandbox. Its effects are external: after a crash, the
 * effects of the command are unknown, so the loop does not repeat it.
 */
export function createExecTool(options: ExecToolOptions): ToolDefinition {
  const { workspace, sandbox, domains = [] } = options;
  const reachable = sandbox.level === "bubblewrap" ? domains : [];
  const seconds = Math.floor(sandbox.limits.timeoutMs / 1000);
  const minutes = Math.floor(sandbox.limits.backgroundMs / 60_000);
  // Without a sandbox, a background command would keep running after the host was killed.
  const canRunInBackground = options.processes !== undefined && sandbox.level === "bubblewrap";
  const background = canRunInBackground
    ? `with \`background\`, it is ${minutes} minutes; see process`
    : "processes do not outlive the command";
  return defineTool({
    name: "exec",
    description: `Run a shell command in the working folder. ${describeLimits(sandbox, reachable)}The time limit is ${seconds} seconds; ${background}.`,
    inputSchema: createSchema(sandbox, reachable, canRunInBackground),
    effects: "external",
    truncate: "head_tail",
    exposes: async ({ cwd }, facts) => {
      const folder =
        cwd === undefined
          ? workspace.dir
          : await getVisibleWorkspace(workspace, facts)
              .locateFolder(cwd)
              .catch(() => undefined);
      return folder === undefined || facts.taint.length > 0
        ? []
        : getExposure(workspace, sandbox, folder, facts);
    },
    claims: (args) =>
      sandbox.network || args.network === true
        ? [{ kind: "exec_network", detail: args.command.split("\n", 1)[0]?.slice(0, 120) ?? "" }]
        : [],
    isCovered: async (args, rules) => canBeCovered(args) && isCovered(await parseShell(args.command), rules),
    subject: (args, facts) => createSubject(options, args, facts),
    async run({ args }, context, permit) {
      if (sandbox.level === "disabled") {
        return failure(
          `exec is not available: ${sandbox.reason ?? ""} Continue without it, or tell the person.`,
        );
      }
      try {
        const changed = await findChangedFile(options, args, permit);
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

function describeLimits({ network }: Sandbox, domains: readonly string[]): string {
  if (network) return "";
  const reach = domains.length === 0 ? "There is no network" : "There is no network unless requested";
  return `${reach}, and only the working folder can be written. `;
}

const NO_VARIABLES: CommandEnvironment = async () => ({});

interface ExecArgs {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly timeout_seconds?: number | undefined;
  readonly network?: boolean | undefined;
  readonly background?: boolean | undefined;
  readonly pty?: boolean | undefined;
}

/** @param domains hosts that commands can reach. If it is empty, the tool has no argument `network`. */
function createSchema(
  { limits, terminal = false }: Sandbox,
  domains: readonly string[],
  canRunInBackground: boolean,
): z.ZodType<ExecArgs> {
  const seconds = Math.floor(limits.timeoutMs / 1000);
  const plain = z.object({
    command: z.string().min(1).max(MAX_COMMAND_CHARS).describe("Shell script"),
    cwd: z.string().min(1).optional().describe("Folder to run in, relative to the working folder"),
    timeout_seconds: z.number().positive().max(seconds).optional().describe(`Default: ${seconds}`),
  });
  const pty = z.boolean().optional().describe("Run in a terminal");
  const withBackground = canRunInBackground ? plain.extend({ background: z.boolean().optional() }) : plain;
  const schema = terminal ? withBackground.extend({ pty }) : withBackground;
  if (domains.length === 0) return schema;
  const what = `Whether the command needs the network. Through a proxy (HTTPS_PROXY) it can reach: ${domains.join(", ")}`;
  return schema.extend({ network: z.boolean().optional().describe(what) });
}

/**
 * Returns the content for an approval: the command, its folder, environment and program, and the files that it names.
 */
async function createSubject(
  { workspace, sandbox, domains, environment = NO_VARIABLES }: ExecToolOptions,
  args: ExecArgs,
  facts: RunFacts,
): Promise<ApprovalSubject> {
  const cwd = await locateCwd(workspace, args.cwd, facts);
  const script = await parseShell(args.command);
  const files = await findNamedFiles(workspace, cwd, script.words, facts);
  const rules = canBeCovered(args) ? getAllowRules(script) : undefined;
  const names = Object.keys(await environment());
  return {
    action: describeAction(args, sandbox),
    cwd,
    // The values of configured variables may be secrets.
    env: { ...Object.fromEntries(names.map((name) => [name, "(configured)"])), ...sandbox.env },
    binary: sandbox.shell,
    // A call cannot set the variables or the shell. Assignments in the command are part of the action.
    usual: cwd === workspace.dir ? ["binary", "env", "cwd"] : ["binary", "env"],
    ...(args.network === true && domains !== undefined ? { domains } : {}),
    ...(files.length === 0 ? {} : { files }),
    ...(rules === undefined ? {} : { rules }),
  };
}

/** Allow rules cover neither the network nor terminals: in a terminal, `git log` starts a pager. */
function canBeCovered({ network, pty }: ExecArgs): boolean {
  return network !== true && pty !== true;
}

function describeAction({ command, background, pty }: ExecArgs, { limits }: Sandbox): string {
  const minutes = Math.floor(limits.backgroundMs / 60_000);
  return [
    command,
    ...(pty === true ? ["[in a terminal]"] : []),
    ...(background === true ? [`[in the background, for up to ${minutes} minutes]`] : []),
  ].join("\n");
}

/** Returns a file that has changed since the command was approved, if any. */
async function findChangedFile(
  { workspace }: ExecToolOptions,
  args: ExecArgs,
  { subject, run }: Permit,
): Promise<string | undefined> {
  if (subject === undefined) return undefined;
  const hashes = (files: ApprovalSubject["files"]) =>
    new Map((files ?? []).map(({ path, sha256 }) => [path, sha256]));
  const cwd = await locateCwd(workspace, args.cwd, run.facts);
  const { words } = await parseShell(args.command);
  const before = hashes(subject.files);
  const now = hashes(await findNamedFiles(workspace, cwd, words, run.facts));
  return [...new Set([...before.keys(), ...now.keys()])].find((path) => before.get(path) !== now.get(path));
}

/**
 * Prepares a command: hides untrusted files from it, and tracks its changes in order to label them with their author.
 */
async function prepareCommand(options: ExecToolOptions, args: ExecArgs, facts: RunFacts) {
  const { workspace, sandbox, domains, environment = NO_VARIABLES } = options;
  const env = await environment();
  const { additions } = workspace.labels;
  const cwd = await locateCwd(workspace, args.cwd, facts);
  const allowedDomains = args.network === true ? domains : undefined;
  const author = allowedDomains === undefined ? facts : { ...facts, taint: [...facts.taint, NETWORK_TAINT] };
  const view = await getView(workspace.labels, workspace.dir, facts);
  const followed = await workspace.labels.track({
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
        protect: getProtection(facts),
        covers: view.covers,
        env,
        domains: allowedDomains,
        terminal: args.pty === true,
        timeoutMs: args.timeout_seconds === undefined ? undefined : args.timeout_seconds * 1000,
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
  const { view, followed, author, start } = await prepareCommand(options, args, facts);
  let outcome: SandboxOutcome;
  try {
    const { signal, update } = context;
    outcome = await start({ signal, outputChars: getContentRoom(context), onOutput: createReporter(update) });
  } finally {
    for (const mark of author.taint) run.taint(mark);
    const foreign = await followed.end();
    if (foreign !== undefined)
      run.taint({ source: foreign.source, detail: "files that changed during the command" });
  }
  const name = view.names.find((each) => mentions(outcome.output, each));
  if (name !== undefined) run.taint({ source: "file", detail: `the name ${name}` });
  return toExecResult(outcome, options.sandbox, facts.taint.length === 0 ? view : undefined);
}

/**
 * Starts a command that outlives its call. Everything that the command has read taints the runs that read its output.
 */
async function startInBackground(
  options: ExecToolOptions,
  args: ExecArgs,
  context: ToolContext,
  { run }: Permit,
): Promise<ToolResult> {
  const { processes, sandbox, workspace } = options;
  if (processes === undefined || sandbox.level !== "bubblewrap")
    return failure("Commands cannot run in the background here.");
  const { view, followed, additions, author, start } = await prepareCommand(options, args, run.facts);
  const outputChars = getContentRoom(context);
  const process = processes.start({
    sessionKey: author.sessionKey,
    command: args.command,
    // A tainted run must not send input to a command that can reach the network.
    facts: args.network === true ? { ...run.facts, taint: [] } : run.facts,
    run: (io) => start({ ...io, outputChars, background: true }).finally(() => followed.end()),
    getTaint(output) {
      if (author.taint.length > 0) return author.taint;
      const { labels, dir } = workspace;
      const changed = labels.additions !== additions || labels.findChanging(dir, author) !== undefined;
      const name = view.names.find((each) => mentions(output, each));
      return [
        ...(changed ? [{ source: "file", detail: "files that changed during the command" } as const] : []),
        ...(name === undefined ? [] : [{ source: "file", detail: `the name ${name}` } as const]),
      ];
    },
  });
  if (typeof process === "string") {
    await followed.end();
    return failure(process);
  }
  await process.wait(START_WAIT_MS);
  for (const mark of process.getTaint(process.output())) run.taint(mark);
  const end = process.end();
  if (end === undefined)
    return success(`${process.output()}[${process.id} is running in the background; see process]`, {
      id: process.id,
    });
  processes.forget(process);
  return typeof end === "string"
    ? failure(`The command did not run: ${end}`)
    : toExecResult(end, sandbox, author.taint.length === 0 ? view : undefined);
}

/**
 * Returns the untrusted content that is visible to any command in this folder. This content taints the run before the
 * decision.
 */
async function getExposure(
  { labels, dir }: Workspace,
  { level }: Sandbox,
  folder: string,
  facts: RunFacts,
): Promise<readonly TaintMark[]> {
  const open = labels.findChanging(dir, facts);
  if (open !== undefined)
    return [{ source: open.author.source, detail: "files that another command is changing" }];
  const inside = labels.get(folder);
  if (inside !== undefined && isForeign(inside, facts))
    return [{ source: inside.source, detail: "its folder" }];
  const view = await getView(labels, dir, facts);
  // Nothing can be hidden without a sandbox.
  const isOpen = level === "none" && (view.hides || view.names.length > 0);
  if (isOpen) return [{ source: "file", detail: "files in the workspace" }];
  return view.exposed.map(({ source, path }) => ({ source, detail: path.slice(dir.length + 1) }));
}

function createReporter(update: ToolContext["update"]): (output: string) => void {
  let last = performance.now();
  return (output) => {
    if (performance.now() - last < UPDATE_MS) return;
    last = performance.now();
    update({ content: [{ type: "text", text: output }] });
  };
}

/** Returns true if a string contains a name that is not part of a longer word. */
function mentions(text: string, name: string): boolean {
  const letters = /[\p{L}\p{N}]/u;
  for (let at = indexOfLinear(text, name); at >= 0; at = indexOfLinear(text, name, at + 1)) {
    const around = [text.charAt(at - 1), text.charAt(at + name.length)];
    if (!around.some((character) => letters.test(character))) return true;
  }
  return false;
}

/**
 * Returns the names that a command cannot write to. Only untainted runs of owners may write identity files, because an
 * approval does not show what a command writes. The inbox and people folders are protected, so that they always exist
 * and can be covered.
 */
function getProtection({ role, taint }: RunFacts): SandboxRequest["protect"] {
  const ofOthers = [INBOX_FOLDER, PEOPLE_FOLDER];
  const isOwners = role === "owner" && taint.length === 0;
  return isOwners
    ? { files: [], folders: ofOthers }
    : { files: IDENTITY_FILES, folders: [...IDENTITY_FOLDERS, ...ofOthers] };
}

async function locateCwd(workspace: Workspace, path: string | undefined, facts: RunFacts): Promise<string> {
  if (path === undefined) return workspace.dir;
  const folder = await getVisibleWorkspace(workspace, facts).locateFolder(path);
  if (folder !== workspace.dir && !folder.startsWith(`${workspace.dir}/`)) {
    throw new WorkspaceError("outside", `${path} is outside the workspace; commands run inside it.`);
  }
  return folder;
}
