import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import {
  createEditTool,
  createExecTool,
  createLsTool,
  createMemoryLabelStore,
  createReadTool,
  createWriteTool,
  type LabelStore,
  openFileLabels,
  openWorkspace,
  type Role,
  type RunFacts,
  type Sandbox,
  startSandbox,
  toFolderName,
} from "../src/index.ts";
import { type Caller, caller } from "./harness.ts";

export const sandbox = await startSandbox({ limits: { timeoutMs: 60_000 } });
export const isSandboxed = sandbox.level === "bubblewrap";
if (!isSandboxed) console.log(`skipped: commands in the sandbox, since ${sandbox.reason}`);

export const CANARY = "canary7f3a";

const FORMS = [CANARY, [...CANARY].reverse().join(""), Buffer.from(CANARY).toString("base64").slice(0, 12)];

/** Returns true if a text contains the canary, possibly transformed by a command. */
export const holds = (text: string): boolean => FORMS.some((form) => text.includes(form));

export const PEOPLE = {
  owner: { role: "owner", speaker: "feishu:ou_owner" },
  ann: { role: "member", speaker: "feishu:ou_ann" },
  bob: { role: "member", speaker: "feishu:ou_bob" },
  eve: { role: "guest", speaker: "feishu:ou_eve" },
} satisfies Record<string, { role: Role; speaker: string }>;
export type Person = keyof typeof PEOPLE;

/** Guests have the rights of members here, so that they are tested too. */
const POLICY = { allow: ["*"], roles: { guest: {} } };

/** Creates a workspace with labels, and a function that creates runs of people in it. */
export async function home(store: LabelStore = createMemoryLabelStore(), where: Sandbox = sandbox) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "taint-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const open = async (labels = store) => {
    const workspace = await openWorkspace({ dir, labels: await openFileLabels(labels) });
    const tools = [createReadTool, createWriteTool, createEditTool, createLsTool].map((make) =>
      make({ workspace }),
    );
    const all = [...tools, createExecTool({ workspace, sandbox: where })];
    return (person: Person, facts: Partial<RunFacts> = {}): Caller => {
      const who = PEOPLE[person];
      return caller(all, { policy: POLICY, facts: { ...who, sessionKey: `session of ${person}`, ...facts } });
    };
  };
  const put = (path: string, content: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  };
  const inbox = (person: Person): string => `inbox/${toFolderName(`session of ${person}`)}`;
  const has = (path: string): boolean => existsSync(join(dir, path));
  return { dir, open, put, has, inbox, run: await open() };
}
