import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProcesses } from "../src/background/processes.ts";
import { createProcessTool } from "../src/background/tool.ts";
import {
  createApprovals,
  createExecTool,
  openWorkspace,
  type RunFacts,
  startSandbox,
  type ToolPolicy,
} from "../src/index.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, textOf } from "./harness.ts";

const sandbox = await startSandbox({ limits: { timeoutMs: 60_000, backgroundMs: 120_000 } });
if (sandbox.level !== "bubblewrap")
  console.log(`skipped: commands in the background, since ${sandbox.reason}`);

async function background(how: { limits?: { backgroundMs: number } } = {}) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "background-")));
  let started = 0;
  const processes = createProcesses({ makeId: () => `p${++started}` });
  onTestFinished(async () => {
    await processes.end();
    rmSync(dir, { recursive: true, force: true });
  });
  const workspace = await openWorkspace({ dir });
  const limited = how.limits === undefined ? sandbox : await startSandbox({ limits: how.limits });
  const tools = [
    createExecTool({ workspace, sandbox: limited, processes }),
    createProcessTool({ processes }),
  ];
  const as = (facts: Partial<RunFacts> = {}, policy: ToolPolicy = { allow: ["*"] }) => {
    const approvals = createApprovals({ store: createTestApprovals() });
    const run = caller(tools, { facts: { role: "owner", ...facts }, policy, approvals });
    const said = async (name: string, args: object) => textOf(await run.call(name, { ...args }));
    return {
      ...run,
      approvals,
      said,
      exec: (command: string) => said("exec", { command, background: true }),
      process: (action: string, more: object = {}) => said("process", { action, ...more }),
    };
  };
  /** Starts a command in new conversations until its output begins in time, which a busy machine may delay. */
  const begin = async (args: object, output: RegExp): Promise<{ id: string; sessionKey: string }> => {
    let sessionKey = "";
    await expect
      .poll(() => {
        sessionKey = `conversation ${started}`;
        return as({ sessionKey }).said("exec", { ...args, background: true });
      })
      .toMatch(output);
    return { id: `p${started}`, sessionKey };
  };
  return { dir, workspace, processes, as, begin };
}

const runs = (mark: string): boolean => {
  try {
    return execFileSync("pgrep", ["-f", mark], { encoding: "utf8" }).trim() !== "";
  } catch {
    return false;
  }
};

describe.skipIf(sandbox.level !== "bubblewrap")("a command in the background", () => {
  test("continues after its run, and can be read, written to and ended", async () => {
    const { as, begin } = await background();
    const command = 'echo ready; while read line; do echo "got $line"; done; echo over';
    const { id, sessionKey } = await begin(
      { command },
      /^ready\n\[p\d+ is running in the background; see process\]$/,
    );
    // A later run of the same conversation.
    const later = as({ sessionKey });
    expect(await later.process("list")).toMatch(new RegExp(`^${id} running for \\d+ s: echo ready`));
    expect(await later.process("write", { id, input: "one\n", wait_seconds: 10 })).toContain("got one");
    await later.process("write", { id });
    await expect
      .poll(() => later.process("poll", { id, wait_seconds: 1 }))
      .toMatch(new RegExp(`over\\n\\[${id} has ended: exit code 0\\]$`));
    expect(await later.process("list")).toBe("(nothing is running in the background)");
  });

  test("refuses input after its input was closed", async () => {
    const run = (await background()).as();
    await run.exec("cat; sleep 100");
    await run.process("write", { id: "p1" });
    expect(await run.process("write", { id: "p1", input: "lost\n" })).toContain(
      "input of this command is closed",
    );
    await run.process("kill", { id: "p1" });
  });

  test.skipIf(sandbox.terminal !== true)("can run in a terminal and accept input there", async () => {
    const { as, begin } = await background();
    const asking = { command: 'test -t 0 && read -p "Your name? " name; echo "Hello $name"', pty: true };
    const { id, sessionKey } = await begin(asking, /^Your name\? \[p\d+ is running/);
    const run = as({ sessionKey });
    await run.process("write", { id, input: "Ada\n" });
    await expect
      .poll(() => run.process("poll", { id, wait_seconds: 1 }))
      .toMatch(new RegExp(`Hello Ada\\r?\\n\\[${id} has ended: exit code 0\\]$`));
  });

  test("has an id that later processes do not reuse", async () => {
    const { workspace } = await background();
    const ids = new Set<string>();
    for (let start = 0; start < 2; start++) {
      const processes = createProcesses();
      const exec = createExecTool({ workspace, sandbox, processes });
      const run = caller([exec], { facts: { role: "owner" } });
      ids.add(textOf(await run.call("exec", { command: "sleep 100", background: true })));
      await processes.end();
    }
    expect(ids.size).toBe(2);
  });

  test("has an ordinary result if it ends immediately", async () => {
    const { begin } = await background();
    await begin({ command: "echo done; exit 3" }, /^done\n\[exit code 3\]$/);
  });

  test("is visible only in its conversation", async () => {
    const { as } = await background();
    await as().exec("sleep 100");
    const other = as({ sessionKey: "another" });
    expect(await other.process("list")).toBe("(nothing is running in the background)");
    expect(await other.process("kill", { id: "p1" })).toContain("no command p1");
  });

  test("is killed with all of its processes, alone or with all commands", async () => {
    const { as, processes } = await background();
    const marks = [`mark${Math.random()}`, `mark${Math.random()}`];
    for (const mark of marks) await as().exec(`bash -c 'exec -a ${mark} sleep 100' & wait`);
    await expect.poll(() => marks.map(runs)).toEqual([true, true]);
    expect(await as().process("kill", { id: "p1" })).toContain("p1 has ended: stopped (abort)");
    await expect.poll(() => marks.map(runs)).toEqual([false, true]);
    await processes.end();
    await expect.poll(() => marks.map(runs)).toEqual([false, false]);
    expect(await as().exec("true")).toContain("the gateway is stopping");
  });

  test("can be ended by agent and by conversation, without affecting others", async () => {
    const { as, processes } = await background();
    await as().exec("sleep 100");
    await as({ sessionKey: "another" }).exec("sleep 100");
    await as({ sessionKey: "third", agentId: "writer" }).exec("sleep 100");
    await processes.end({ agentId: "coder" });
    expect(await as({ sessionKey: "another" }).process("list")).toBe(
      "(nothing is running in the background)",
    );
    expect(await as({ sessionKey: "third" }).process("list")).toContain("p3 running");
    await processes.end({ sessionKey: "third" });
    expect(await as({ sessionKey: "third" }).process("list")).toBe("(nothing is running in the background)");
  });

  test("can be ended by speaker", async () => {
    const { as, processes } = await background();
    await as({ speaker: "web:token:alice" }).exec("sleep 100");
    await as({ speaker: "web:token:ben" }).exec("sleep 100");
    await as().exec("sleep 100");
    await processes.end({ matches: (speaker) => speaker === "web:token:alice" });
    expect(await as().process("list")).not.toContain("p1");
    expect(await as().process("list")).toMatch(/p2 running[\s\S]*p3 running/);
  });

  test("is subject to the time limit and to the limit per conversation", async () => {
    const { as } = await background({ limits: { backgroundMs: 2_000 } });
    const run = as();
    await run.exec("sleep 20");
    await expect
      .poll(() => run.process("poll", { id: "p1", wait_seconds: 1 }))
      .toContain("stopped (timeout)");
    const many = (await background()).as();
    for (let n = 0; n < 4; n++) await many.exec("sleep 100");
    expect(await many.exec("sleep 100")).toContain("already 4 commands in the background");
  });

  test("refuses input from weaker roles and from tainted runs", async () => {
    const { as } = await background();
    await as().exec("cat");
    const tainted = as({ taint: [{ source: "web" }] });
    expect(await as({ role: "member" }).process("write", { id: "p1", input: "x\n" })).toContain(
      "accepts no input",
    );
    expect(await tainted.process("write", { id: "p1", input: "x\n" })).toContain("accepts no input");
    expect(await as().process("write", { id: "p1", input: "mine\n", wait_seconds: 10 })).toContain("mine");
  });

  test("taints its readers and labels its files if a tainted run started it", async () => {
    const { dir, workspace, as } = await background();
    await as({ taint: [{ source: "web" }] }).exec("echo words > page.txt; echo said; sleep 100");
    const later = as();
    await expect.poll(() => later.process("poll", { id: "p1", wait_seconds: 1 })).toContain("said");
    expect(later.state.facts.taint).toMatchObject([{ source: "web" }]);
    await later.process("kill", { id: "p1" });
    expect(workspace.labels.get(join(dir, "page.txt"))).toMatchObject({ source: "web" });
  });

  test("taints an owner who lists or reads it if a member started it, but not the member", async () => {
    const { as } = await background();
    const member = { role: "member", speaker: "feishu:ou_2" } as const;
    const theirs = as(member);
    await theirs.exec("sleep 100 # and now write to everybody");
    expect(await theirs.process("list")).toContain("write to everybody");
    expect(theirs.state.facts.taint).toEqual([]);
    for (const look of ["list", "poll"]) {
      const owner = as();
      await owner.process(look, { id: "p1" });
      expect(owner.state.facts.taint).toEqual([{ source: "person", detail: "the command p1" }]);
    }
  });

  test("taints its readers if it may have read untrusted content later", async () => {
    const { dir, workspace, as } = await background();
    await as().exec("until test -e labeled; do sleep 0.05; done; cat late.txt; sleep 100");
    writeFileSync(join(dir, "late.txt"), "obey\n");
    await workspace.labels.add([{ path: join(dir, "late.txt"), kind: "entry", source: "web" }]);
    writeFileSync(join(dir, "labeled"), "");
    const later = as();
    await expect.poll(() => later.process("poll", { id: "p1", wait_seconds: 1 })).toContain("obey");
    expect(later.state.facts.taint).toMatchObject([{ source: "file" }]);
  });

  test("needs approval as a background command, and its input needs approval as well", async () => {
    const { as } = await background();
    const policy: ToolPolicy = { allow: ["*"], askModes: { exec: "always", process: "unlisted" } };
    const run = as({}, policy);
    await run.exec("cat");
    expect((await run.approvals.list())[0]?.subject.action).toBe(
      "cat\n[in the background, for up to 2 minutes]",
    );
    await as().exec("cat");
    expect(await run.process("poll", { id: "p1" })).toContain("p1 is running");
    expect(await run.process("write", { id: "p1", input: "rm -rf .\n" })).toContain("needs approval");
  });
});

test("commands cannot run in the background without a sandbox", async () => {
  const bare = await startSandbox({ setting: "none" });
  const dir = mkdtempSync(join(tmpdir(), "background-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const workspace = await openWorkspace({ dir });
  const exec = createExecTool({ workspace, sandbox: bare, processes: createProcesses() });
  expect(exec.description).toContain("processes do not outlive the command");
});
