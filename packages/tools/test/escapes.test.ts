// A scripted caller tries to leave the workspace through the public tool interface. It must not read, change or reach
// anything outside.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createEditTool,
  createExecTool,
  createLsTool,
  createReadTool,
  createWriteTool,
  openWorkspace,
  startSandbox,
} from "../src/index.ts";
import { type Attempt, LINKS, PATHS, SEQUENCES, SHELL, type Step } from "./escape-attempts.ts";
import { type Caller, caller, textOf } from "./harness.ts";

const SECRET = `canary-${randomBytes(12).toString("hex")}`;
process.env["SIGNALBOX_TEST_CANARY"] = SECRET;
const rows = (attempts: readonly Attempt[]): { name: string; steps: Step[] }[] =>
  attempts.map(([name, ...steps]) => ({ name, steps }));

const sandbox = await startSandbox({ limits: { timeoutMs: 60_000 } });
if (sandbox.level !== "bubblewrap") console.log(`skipped: commands and sequences, since ${sandbox.reason}`);

let base: string;
let agent: Caller;
let server: Server;
let port = 0;
let connections = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.end(SECRET);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  if (address !== null && typeof address === "object") port = address.port;
});
afterAll(() => {
  server.close();
});

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "escapes-")));
  for (const dir of [
    "outside",
    "workspace",
    "workspace/sub",
    "workspace/.state",
    "workspace-evil",
    "skills",
  ]) {
    mkdirSync(join(base, dir));
  }
  for (const file of ["outside/secret.txt", "workspace-evil/secret.txt", "workspace/.state/signalbox.db"]) {
    writeFileSync(join(base, file), SECRET);
  }
  writeFileSync(join(base, "skills/SKILL.md"), "a skill, not a canary-to-be-found");
  const outside = join(base, "outside");
  const links: [string, string][] = [
    ["link-file", join(outside, "secret.txt")],
    ["link-relative", "../outside/secret.txt"],
    ["link-folder", outside],
    ["link-root", "/"],
    ["chain-1", "chain-2"],
    ["chain-2", "sub/chain-3"],
    ["sub/chain-3", "../../outside/secret.txt"],
    ["sub/link", "../../outside"],
    ["link-back", "../outside/../workspace/sub/.."],
    ["link-parents", "../".repeat(30) + base.slice(1)],
    ["loop-a", "loop-b"],
    ["loop-b", "loop-a"],
    ["link-dangling", join(outside, "planted")],
    ["link-proc", "/proc/self/root"],
    ["link-environ", "/proc/self/environ"],
    ["link-sibling", "../workspace-evil"],
    ["state-link", ".state"],
  ];
  for (const [name, target] of links) symlinkSync(target, join(base, "workspace", name));
  symlinkSync(outside, join(base, "skills/link"));
  execFileSync("mkfifo", [join(base, "workspace/pipe")]);
  const workspace = await openWorkspace({
    dir: join(base, "workspace"),
    readOnlyDirs: [join(base, "skills")],
    forbidden: [join(base, "workspace/.state")],
  });
  connections = 0;
  agent = caller([
    createReadTool({ workspace }),
    createWriteTool({ workspace }),
    createEditTool({ workspace }),
    createLsTool({ workspace }),
    createExecTool({ workspace, sandbox }),
  ]);
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

/** Returns all files outside the workspace, and the gateway's state inside it. */
function planted(): string[] {
  const found: string[] = [];
  const visit = (path: string): void => {
    const stat = lstatSync(path);
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else found.push(`${path} ${stat.mode} ${stat.isSymbolicLink() ? "link" : readFileSync(path, "utf8")}`);
  };
  for (const dir of ["outside", "workspace-evil", "skills", "workspace/.state"]) visit(join(base, dir));
  return [...readdirSync(base).sort(), ...found];
}

async function attempt(steps: readonly Step[]): Promise<void> {
  const before = planted();
  const filled = steps.map(({ tool, args }) => ({ tool, args: filledIn(args) }));
  for (const { tool, args } of filled) {
    const result = await agent.call(tool, args);
    expect(textOf(result)).not.toContain(SECRET);
    expect(JSON.stringify(result)).not.toContain(SECRET);
    expect(JSON.stringify(result)).not.toContain(Buffer.from(SECRET).toString("base64").slice(0, 20));
  }
  expect(planted()).toEqual(before);
  expect(connections).toBe(0);
  expect(existsSync("/usr/bin/spoiled")).toBe(false);
  expect(agent.records).toHaveLength(filled.filter(isWellFormed).length);
}

/** Calls with invalid arguments are not decided. */
function isWellFormed({ args }: Step): boolean {
  return args["timeout_seconds"] === undefined;
}

function filledIn(args: Step["args"]): Step["args"] {
  const fill = (value: string | number): string | number =>
    typeof value === "number"
      ? value
      : value
          .replaceAll("@BASE@", base)
          .replaceAll("@PID@", String(process.pid))
          .replaceAll("@PORT@", String(port));
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, fill(value)]));
}

test("there are at least 150 different attempts", () => {
  const all = [...PATHS, ...LINKS, ...SHELL, ...SEQUENCES];
  expect(new Set(all.map(([, ...steps]) => JSON.stringify(steps))).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(150);
});

test("the targets of the attempts exist", async () => {
  expect(readFileSync(join(base, "workspace/link-file"), "utf8")).toBe(SECRET);
  expect(textOf(await agent.call("read", { file_path: join(base, "skills/SKILL.md") }))).toContain("a skill");
  expect(textOf(await agent.call("ls", { path: "." }))).toContain("link-folder@\n");
});

describe("paths", () => {
  test.each(rows(PATHS))("$name", ({ steps }) => attempt(steps));
});

describe("links", () => {
  test.each(rows(LINKS))("$name", ({ steps }) => attempt(steps));
});

describe.skipIf(sandbox.level !== "bubblewrap")("commands", () => {
  test.each(rows(SHELL))("$name", async ({ name, steps }) => {
    await attempt(steps);
    if (name.startsWith("stay behind")) await new Promise((resolve) => setTimeout(resolve, 600));
    expect(existsSync(join(base, "workspace/late"))).toBe(false);
  });
});

describe.skipIf(sandbox.level !== "bubblewrap")("sequences", () => {
  test.each(rows(SEQUENCES))("$name", ({ steps }) => attempt(steps));
});
