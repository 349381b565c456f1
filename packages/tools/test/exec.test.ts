import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { createApprovals, createExecTool, type Sandbox, startSandbox, type Workspace } from "../src/index.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, textOf } from "./harness.ts";
import { alive, bare, OWNER, openFolder, sandboxed } from "./sandboxes.ts";

let dir: string;
let workspace: Workspace;
beforeEach(async () => {
  ({ dir, workspace } = await openFolder());
});

const tool = (sandbox: Sandbox) => createExecTool({ workspace, sandbox });
const byOwner = (exec: ReturnType<typeof tool>) => caller([exec], { facts: OWNER });

describe.skipIf(sandboxed.terminal !== true)("a command in a terminal", () => {
  const command = "test -t 0 && test -t 1 && stty size; exit 3";

  test("has a terminal with a window size, and its own exit code", async () => {
    const result = await byOwner(tool(sandboxed)).call("exec", { command, pty: true });
    expect(textOf(result)).toMatch(/^40 120\r?\n\[exit code 3\]$/);
    expect(textOf(await byOwner(tool(sandboxed)).call("exec", { command }))).toBe("[exit code 3]");
  });

  test("is isolated and stopped like any other command", async () => {
    const mark = `34.${process.pid}`;
    const said = `cat '${dir}/../canary' 2>&1; id -u; it='quoted \\'; echo "$it"; sleep ${mark}`;
    const result = await byOwner(tool(sandboxed)).call("exec", {
      command: said,
      pty: true,
      timeout_seconds: 5,
    });
    expect(textOf(result)).toMatch(
      /No such file or directory\r?\n[1-9]\d*\r?\nquoted \\\r?\n\[stopped: it took too long/,
    );
    await expect.poll(() => alive(`sleep ${mark}`)).toBe(false);
  });

  test("is marked in the approval request", async () => {
    const approvals = createApprovals({ store: createTestApprovals() });
    const policy = { allow: ["*"], askModes: { exec: "always" } } as const;
    const agent = caller([tool(sandboxed)], { facts: OWNER, policy, approvals });
    await agent.call("exec", { command: "top", pty: true });
    expect((await approvals.list({ states: ["pending"] })).map(({ subject }) => subject.action)).toEqual([
      "top\n[in a terminal]",
    ]);
  });

  test("is not covered by allow rules, and no rule is offered", async () => {
    const approvals = createApprovals({ store: createTestApprovals() });
    const policy = { allow: ["*"], askModes: { exec: "unlisted" } } as const;
    const allowRules = [["git", "log", "**"]];
    const agent = caller([tool(sandboxed)], { facts: OWNER, policy, approvals, allowRules });
    expect(textOf(await agent.call("exec", { command: "git log" }))).not.toContain("needs approval");
    const inTerminal = await agent.call("exec", { command: "git log", pty: true });
    expect(textOf(inTerminal)).toContain("needs approval");
    expect((await approvals.list()).map(({ subject }) => subject.rules)).toEqual([undefined]);
  });
});

describe.each([
  ["bubblewrap", sandboxed],
  ["none", bare],
])("on the level %s", (level, sandbox) => {
  const usable = sandbox.level === level;

  test.skipIf(!usable)(
    "a command gets the host's additional variables, which do not replace those of the sandbox",
    async () => {
      const environment = async () => ({ GREETING: "hello $HOME; '\"", PATH: "/elsewhere" });
      const agent = byOwner(createExecTool({ workspace, sandbox, environment }));
      const result = await agent.call("exec", { command: 'echo "[$GREETING]"; ls' });
      expect(textOf(result)).toContain(`[hello $HOME; '"]`);
    },
  );

  test.skipIf(!usable)("runs in the workspace, and returns output and exit code", async () => {
    const agent = byOwner(tool(sandbox));
    const result = await agent.call("exec", { command: "pwd; echo problem >&2; echo 你好 > made" });
    expect(textOf(result)).toBe(`${dir}\nproblem\n[exit code 0]`);
    expect(result).not.toHaveProperty("isError");
    expect(result.details).toMatchObject({ exitCode: 0, sandbox: level });
    expect(readFileSync(join(dir, "made"), "utf8")).toBe("你好\n");
  });

  test.skipIf(!usable)("a failed command is an error with its exit code", async () => {
    const result = await byOwner(tool(sandbox)).call("exec", { command: "echo no; exit 3" });
    expect(textOf(result)).toBe("no\n[exit code 3]");
    expect(result.isError).toBe(true);
    expect(textOf(await byOwner(tool(sandbox)).call("exec", { command: "kill -TERM $$" }))).toMatch(
      /SIGTERM|exit code 143/,
    );
  });

  test.skipIf(!usable)("runs in the requested folder", async () => {
    mkdirSync(join(dir, "sub"));
    const agent = byOwner(tool(sandbox));
    expect(textOf(await agent.call("exec", { command: "pwd", cwd: "sub" }))).toBe(
      `${dir}/sub\n[exit code 0]`,
    );
    expect(textOf(await agent.call("exec", { command: "pwd", cwd: "none" }))).toContain("no folder none");
    expect(textOf(await agent.call("exec", { command: "pwd", cwd: ".." }))).toContain(
      "outside the workspace",
    );
  });

  test.skipIf(!usable)("a timeout kills all processes of the command", async () => {
    const mark = `31.${process.pid}${level === "none" ? 1 : 2}`;
    const command = `echo started; sleep ${mark} & sleep ${mark}; echo never`;
    const result = await byOwner(tool(sandbox)).call("exec", { command, timeout_seconds: 4 });
    expect(textOf(result)).toBe("started\n[stopped: it took too long; do less at a time]");
    expect(result.details).toMatchObject({ stopped: "timeout" });
    await expect.poll(() => alive(`sleep ${mark}`)).toBe(false);
  });

  test.skipIf(!usable)("an abort kills all processes of the command", async () => {
    const mark = `32.${process.pid}${level === "none" ? 1 : 2}`;
    const abort = new AbortController();
    const running = sandbox.run({
      script: `echo started; sleep ${mark} | cat`,
      folders: workspace,
      cwd: dir,
      protect: { files: [], folders: [] },
      covers: [],
      signal: abort.signal,
      onOutput: () => abort.abort(),
    });
    expect(await running).toMatchObject({ stopped: "abort", output: "started\n" });
    await expect.poll(() => alive(`sleep ${mark}`)).toBe(false);
  });

  test.skipIf(!usable)("keeps the start and the end of long output", async () => {
    const command = "for i in $(seq 1 60000); do echo line $i; done; echo the end";
    const result = await byOwner(tool(sandbox)).call("exec", { command });
    const text = textOf(result);
    expect(text.length).toBeLessThan(15_200);
    expect(text).toMatch(/^line 1\nline 2\n/);
    expect(text).toMatch(/characters omitted …\]/);
    expect(text).toMatch(/line 60000\nthe end\n\[exit code 0\]$/);
  });

  test.skipIf(!usable)("keeps as much output as a result may have", async () => {
    const command = "for i in $(seq 1 5000); do echo line $i; done";
    const large = caller([tool(sandbox)], { facts: OWNER, resultChars: 64_000 });
    const text = textOf(await large.call("exec", { command }));
    expect(text).not.toContain("left out");
    expect(text.split("\n")).toHaveLength(5_001);
  });

  test.skipIf(!usable)("stops a command with endless output", async () => {
    const result = await byOwner(tool(sandbox)).call("exec", { command: "yes" });
    expect(textOf(result)).toMatch(
      /\[stopped: it printed far too much; write the output to a file or filter it\]$/,
    );
  });

  test.skipIf(!usable)("runs a command of the maximum length", async () => {
    const agent = byOwner(tool(sandbox));
    const command = `echo ran # ${"长".repeat(39_989)}`;
    expect(command).toHaveLength(40_000);
    expect(textOf(await agent.call("exec", { command }))).toBe("ran\n[exit code 0]");
    expect(await agent.call("exec", { command: `${command}长` })).toMatchObject({ isError: true });
  });

  test.skipIf(!usable)("the environment is clean", async () => {
    process.env["SIGNALBOX_TEST_SECRET"] = "do-not-pass-on";
    const text = textOf(await byOwner(tool(sandbox)).call("exec", { command: "env" }));
    delete process.env["SIGNALBOX_TEST_SECRET"];
    expect(text).not.toContain("do-not-pass-on");
    const names = text.split("\n").flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);
    expect(names.sort()).toEqual(["HOME", "LANG", "PATH", "PWD", "SHLVL", "TERM", "TMPDIR", "USER", "_"]);
  });

  test.skipIf(!usable)("stops a command with too many processes", async () => {
    const limited = await startSandbox({
      setting: level === "none" ? "none" : "default",
      limits: { processes: 20, timeoutMs: 60_000 },
    });
    const command = "for i in $(seq 1 60); do sleep 15 & done 2>/dev/null; wait";
    const text = textOf(await byOwner(tool(limited)).call("exec", { command }));
    // For root the watchdog stops it. For other users the kernel refuses new processes, and the shell gives up.
    expect(text).toMatch(/more than 20 processes|retry|Resource temporarily unavailable|fork/i);
  });

  test.skipIf(!usable)("stops a command with too much memory", async () => {
    const limited = await startSandbox({
      setting: level === "none" ? "none" : "default",
      limits: { memoryBytes: 100_000_000, timeoutMs: 60_000 },
    });
    const command = "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}";
    const text = textOf(await byOwner(tool(limited)).call("exec", { command }));
    expect(text).not.toContain("300000000");
    expect(text).toMatch(/memory|allocate|exit code [1-9]|SIG/i);
  });
});
