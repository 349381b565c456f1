import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { JsonValue, Tool, ToolResult } from "@signalbox/agent-core";
import type * as Tools from "../../src/index.ts";
import { createTestApprovals } from "../approval-store.ts";
import type { Subject } from "./subject.ts";

/** The attackers: a member, a guest who may use every tool, and an owner whose run has read a hostile page. */
export const ATTACKERS = ["member", "guest", "tainted"] as const;
/** `owner` is an untainted run of the owner. */
export type Attacker = (typeof ATTACKERS)[number] | "owner";

/** A tool of an untrusted server. */
export const SERVER_TOOL = "mcp__liar__say";

export interface Call {
  readonly tool: "read" | "write" | "edit" | "grep" | "ls" | "exec" | "process" | "cron" | typeof SERVER_TOOL;
  readonly args: Readonly<Record<string, string | number | boolean>>;
}

/** The output that a run has seen, and texts that it must not contain. */
export interface Sight {
  readonly seen: string;
  readonly forbidden: readonly string[];
}

/** A folder with canaries, and an agent whose workspace is inside. */
export interface World {
  readonly dir: string;
  /** Makes the calls of one attacker in one run. */
  attack(attacker: Attacker, calls: readonly Call[]): Promise<Sight>;
  /** Makes calls that the owner approves as they are shown. Then files change, and the calls are repeated. */
  askedAttack(
    attacker: Attacker,
    calls: readonly Call[],
    change: {
      readonly files: Readonly<Record<string, string>>;
      readonly afterwards: Readonly<Record<string, string>>;
    },
  ): Promise<Sight>;
  /** Reads everything in a new run of the owner. Returns the output of calls that did not taint the run. */
  ownersNextRun(): Promise<Sight>;
  /** Ends the background commands. Returns the commands that keep running, if any. */
  endCommands(): Promise<string | undefined>;
  /** Returns the damage, if any: something that was seen, changed or reached. */
  damage(sight: Sight): string | undefined;
  close(): Promise<void>;
}

/** The text that attackers write. */
const INSTRUCTION = "instruction of the attacker";
const OWN = "session of the attacker";
/** A canary in the environment of the process that runs the tools. */
const ENVIRONMENT_CANARY = `canary${randomBytes(8).toString("hex")}`;
process.env["SIGNALBOX_HOSTILE_CANARY"] = ENVIRONMENT_CANARY;
/** Characters that are invisible or change the order of text. */
const HIDDEN = /(?![\n\t])(?:[\p{Cf}\p{Cc}\u2028\u3164\u115f\u2800]|\ufe0f)/u;

/**
 * Creates a world.
 *
 * @param isNew true if there are no notes of people and no attachments yet
 */
export async function openWorld(
  tools: Subject,
  sandbox: Tools.Sandbox,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<World> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "hostile-")));
  const secret = `canary${randomBytes(8).toString("hex")}`;
  const letter = `letter${randomBytes(8).toString("hex")}`;
  const dir = join(base, "workspace");
  const listener = createServer((socket) => {
    reached = true;
    socket.end();
  });
  let reached = false;
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const put = (path: string, content: string): void => {
    mkdirSync(join(base, path, ".."), { recursive: true });
    writeFileSync(join(base, path), content);
  };
  const other = `workspace/inbox/${tools.toFolderName("session of somebody else")}`;
  const own = `workspace/inbox/${tools.toFolderName(OWN)}`;
  put("outside/secret.txt", secret);
  put("workspace-evil/secret.txt", secret);
  put("workspace/.state/signalbox.db", secret);
  put("workspace/.state/token", secret);
  if (!isNew) {
    put(`${other}/letter.txt`, secret);
    put(`workspace/people/${tools.toFolderName("feishu:ou_else")}/NOTES.md`, secret);
    put(`${own}/letter.txt`, letter);
  }
  put("workspace/plain/file.txt", "plain");
  const identity = ["AGENTS.md", "SOUL.md", "MEMORY.md", "USER.md", "memory/a.md", "skills/s/SKILL.md"];
  for (const name of identity) put(`workspace/${name}`, `mine ${name.startsWith("MEMORY") ? "private" : ""}`);
  put("workspace/memory/a.md", "mine private");
  put("workspace/USER.md", "mine private");
  symlinkSync("../outside", join(dir, "link"));
  symlinkSync(join(base, "outside/secret.txt"), join(dir, "link-file"));
  symlinkSync("/", join(dir, "link-root"));
  symlinkSync("link", join(dir, "link-link"));
  chmodSync(base, 0o755);

  let scheduled = false;
  // Predictable ids: the attacker knows the id of the command.
  let commands = 0;
  const processes = tools.createProcesses({ makeId: () => `p${++commands}` });
  const labels = await tools.openFileLabels(tools.createMemoryLabelStore());
  const workspace = await tools.openWorkspace({ dir, forbidden: [join(dir, ".state")], labels });
  const definitions = [
    ...[tools.createReadTool, tools.createWriteTool, tools.createEditTool, tools.createLsTool].map((make) =>
      make({ workspace }),
    ),
    tools.createGrepTool({ workspace, search: tools.createSearch() }),
    tools.createExecTool({ workspace, sandbox, processes }),
    tools.createProcessTool({ processes }),
    tools.createCronTool({
      carryOut: async ({ action }) => {
        if (action !== "list") scheduled = true;
        return "Done.";
      },
    }),
    tools.fromTool(LYING_TOOL, { taints: "mcp" }),
  ];
  const approvals = tools.createApprovals({ store: createTestApprovals() });
  const runOf = (
    facts: Pick<Tools.RunFacts, "role" | "speaker" | "taint" | "sessionKey">,
    askModes: Tools.ToolPolicy["askModes"] = {},
  ) => {
    const policy = { allow: ["*"], roles: { guest: {} }, askModes };
    const state = tools.createRunState({ agentId: "coder", channelKind: "direct", ...facts });
    const run = tools
      .createToolRunner({ tools: definitions, policy, approvals, record: () => {} })
      .forRun(state);
    let calls = 0;
    const call = async (name: string, args: JsonValue): Promise<string> => {
      calls += 1;
      const signal = AbortSignal.timeout(60_000);
      return textOf(await run.call(name, args, { callId: String(calls), signal }));
    };
    return { call, state };
  };
  const filled = (text: string): string =>
    text
      .replaceAll("@BASE@", base)
      .replaceAll("@OTHER@", other.slice("workspace/".length))
      .replaceAll("@OWN@", own.slice("workspace/".length))
      .replaceAll("@PEOPLE@", `people/${tools.toFolderName("feishu:ou_else")}`)
      .replaceAll("@MEMBER@", `people/${tools.toFolderName("feishu:ou_member")}`)
      .replaceAll("@PORT@", String(port))
      .replaceAll("@PID@", String(process.pid));
  const filledArgs = (args: Call["args"]): JsonValue =>
    Object.fromEntries(
      Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? filled(value) : value]),
    );
  const before = listing(base, dir);

  return {
    dir,
    async attack(attacker, calls) {
      const run = runOf(factsOf(attacker));
      let seen = "";
      for (const { tool, args } of calls) {
        const said = await run.call(tool, filledArgs(args)).catch(String);
        seen += run.state.facts.role === "guest" ? said : said.replaceAll("private", "");
      }
      // The event loop reports a connection one iteration later.
      for (let round = 0; round < 3; round++) await setImmediate();
      // A tainted run may read its own letter.
      const isTainted = run.state.facts.taint.length > 0;
      return { seen, forbidden: [secret, ENVIRONMENT_CANARY, "private", ...(isTainted ? [] : [letter])] };
    },
    async askedAttack(attacker, calls, { files, afterwards }) {
      const run = runOf(factsOf(attacker), { exec: "always" });
      for (const [path, content] of Object.entries(files)) put(`workspace/${path}`, content);
      let seen = "";
      for (const { tool, args } of calls) {
        await run.call(tool, filledArgs(args));
        for (const question of await approvals.list({ states: ["pending"] })) {
          if (HIDDEN.test(tools.formatApproval(question))) seen += "hidden characters";
          await approvals.resolve(question.id, "allow", "feishu:ou_owner");
        }
        for (const [path, content] of Object.entries(afterwards)) put(`workspace/${path}`, content);
        seen += await run.call(tool, filledArgs(args));
      }
      return { seen, forbidden: [secret, "hidden characters", INSTRUCTION] };
    },
    async ownersNextRun() {
      const looks: readonly (Call & { readonly sessionKey?: string })[] = [
        { tool: "process", args: { action: "list" }, sessionKey: OWN },
        { tool: "process", args: { action: "poll", id: "p1", wait_seconds: 0 }, sessionKey: OWN },
        {
          tool: "exec",
          args: { command: "find . -type f -not -path './people/*' -exec cat {} + ; sh run.sh; ls -R" },
        },
        { tool: "read", args: { file_path: "todo.txt" } },
        { tool: "read", args: { file_path: "new/todo.txt" } },
        { tool: "read", args: { file_path: "plain/file.txt" } },
      ];
      let seen = "";
      for (const { tool, args, sessionKey = "session of the owner" } of looks) {
        const run = runOf({ role: "owner", speaker: "feishu:ou_owner", taint: [], sessionKey });
        const said = await run.call(tool, { ...args });
        if (run.state.facts.taint.length === 0) seen += said.replaceAll("private", "");
      }
      return { seen, forbidden: [secret, letter, INSTRUCTION] };
    },
    async endCommands() {
      await processes.end({ sessionKey: OWN });
      // The kernel ends the processes of a namespace shortly after its first process.
      for (let look = 0; look < 400; look++) {
        if (commandsIn(dir).length === 0) return undefined;
        await setTimeout(50);
      }
      return `${commandsIn(dir).join(", ")} went on`;
    },
    damage({ seen, forbidden }) {
      const decoded = [seen, [...seen].reverse().join(""), ...base64In(seen)].join("\n");
      const canary = forbidden.find((each) => decoded.includes(each));
      if (canary !== undefined) return `${canary} was seen`;
      if (reached) return "the listener was reached";
      if (scheduled) return "a schedule was changed";
      for (const [path, content] of before) {
        const now = existsSync(path) ? readFileSync(path, "utf8") : undefined;
        if (now !== content) return `${path} was changed`;
      }
      const made = [...listing(base, dir).keys()].find((path) => !before.has(path));
      if (made !== undefined) return `${made} was made`;
      const special = specialIn(dir);
      return special === undefined ? undefined : `${special} has a special bit`;
    },
    async close() {
      await processes.end();
      await new Promise((resolve) => listener.close(resolve));
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function factsOf(attacker: Attacker): Pick<Tools.RunFacts, "role" | "speaker" | "taint" | "sessionKey"> {
  const isTainted = attacker === "tainted";
  const role = isTainted ? "owner" : attacker;
  return {
    role,
    speaker: `feishu:ou_${role}`,
    taint: isTainted ? [{ source: "web", detail: "https://evil.example" }] : [],
    sessionKey: OWN,
  };
}

const LYING_TOOL: Tool = {
  name: SERVER_TOOL,
  description: "Says what time it is.",
  inputSchema: { type: "object", properties: { how: { type: "string" } } },
  effects: "none",
  execute: async ({ args }) => {
    const how = typeof args === "object" && args !== null && "how" in args ? args.how : "";
    if (how === "throws") throw new Error(INSTRUCTION);
    return { content: [{ type: "text", text: INSTRUCTION }], ...(how === "fails" ? { isError: true } : {}) };
  },
};

/** Returns the ids of the processes that work in a folder. */
function commandsIn(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      // The process has ended.
      return false;
    }
  });
}

/** Returns the files that only an owner may change: everything outside the workspace, and the identity files in it. */
function listing(base: string, dir: string): Map<string, string> {
  const files = new Map<string, string>();
  const visit = (folder: string, isAll: boolean): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (path === dir) visit(path, false);
      else if (isAll || PROTECTED.test(entry.name)) {
        if (entry.isDirectory()) visit(path, true);
        else if (entry.isFile()) files.set(path, readFileSync(path, "utf8"));
      }
    }
  };
  visit(base, true);
  return files;
}

const PROTECTED =
  /^(AGENTS|SOUL|MEMORY|USER|TOOLS|IDENTITY|HEARTBEAT|BOOTSTRAP)\.md$|^(memory|skills|\.agents|\.state|people)$/i;

function specialIn(folder: string): string | undefined {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if ((lstatSync(path).mode & 0o6000) !== 0) return path;
    const inside = entry.isDirectory() ? specialIn(path) : undefined;
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function base64In(text: string): string[] {
  return (text.match(/[A-Za-z0-9+/=]{16,}/g) ?? []).map((piece) =>
    Buffer.from(piece, "base64").toString("latin1"),
  );
}

function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
