import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  createApprovals,
  createExecTool,
  describeSandbox,
  type Sandbox,
  startSandbox,
  type Workspace,
} from "../src/index.ts";
import { runSelfTest } from "../src/sandbox/self-test.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, textOf } from "./harness.ts";
import { bare, openFolder, sandboxed } from "./sandboxes.ts";

let dir: string;
let workspace: Workspace;
beforeEach(async () => {
  ({ dir, workspace } = await openFolder());
});

const tool = (sandbox: Sandbox) => createExecTool({ workspace, sandbox });

describe("choosing a level", () => {
  test("the self-test passes if bubblewrap can start", () => {
    const launcher = "bwrap";
    let canStart = true;
    try {
      execFileSync(launcher, ["--unshare-user", "--ro-bind", "/", "/", "true"], { stdio: "ignore" });
    } catch {
      canStart = false;
    }
    expect(describeSandbox(sandboxed)).toMatchObject({ ok: canStart });
  });

  test.each([
    ["off", { setting: "off" as const }, "turned off"],
    ["no bubblewrap", { searchPath: "/nowhere" }, "bubblewrap is not installed"],
    ["another system", { platform: "darwin" as const }, "needs Linux"],
  ])("%s: exec is disabled with a reason", async (_name, options, reason) => {
    const sandbox = await startSandbox(options);
    expect(sandbox.level).toBe("disabled");
    expect(describeSandbox(sandbox)).toMatchObject({ ok: false, level: "disabled" });
    expect(describeSandbox(sandbox).summary).toContain(reason);
    const result = await caller([tool(sandbox)]).call("exec", { command: "touch ran" });
    expect(textOf(result)).toContain(reason);
    expect(existsSync(join(dir, "ran"))).toBe(false);
  });

  test("a launcher that does not isolate fails the self-test", async () => {
    const fake = join(dir, "bwrap");
    // Applies only the variables, and runs the program after `--` without isolation.
    const script = [
      `#!${process.execPath}`,
      'const told = require("node:fs").readFileSync(3, "utf8").split("\\0");',
      'told.forEach((each, i) => { if (each === "--setenv") process.env[told[i + 1]] = told[i + 2]; });',
      'const [file, ...args] = process.argv.slice(process.argv.indexOf("--") + 1);',
      'require("node:child_process").spawnSync(file, args, { stdio: "inherit" });',
    ];
    writeFileSync(fake, script.join("\n"), { mode: 0o755 });
    // Without a namespace, the kernel counts all processes of the user.
    const sandbox = await startSandbox({ searchPath: dir, limits: { processes: 100_000 } });
    expect(sandbox).toMatchObject({
      level: "disabled",
      reason: "the self-test could read a file outside the workspace.",
    });
  });

  test("reports the error of a failing launcher", async () => {
    writeFileSync(join(dir, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions' >&2; exit 1\n", {
      mode: 0o755,
    });
    const sandbox = await startSandbox({ searchPath: dir });
    expect(sandbox.level).toBe("disabled");
    expect(sandbox.reason).toContain("bwrap: No permissions");
  });

  test("the self-test fails without a sandbox, and removes its files", async () => {
    expect(await runSelfTest(bare, [dir])).toContain("could read a file outside");
    expect(await runSelfTest(bare, [join(dir, "none")])).toContain("no writable folder");
    expect(readdirSync(dir)).toEqual([]);
    for (const [name, age] of [
      ["old", 3_600],
      ["new", 0],
    ] as const) {
      mkdirSync(join(dir, `.signalbox-canary-${name}`));
      const time = Date.now() / 1000 - age;
      utimesSync(join(dir, `.signalbox-canary-${name}`), time, time);
    }
    await runSelfTest(bare, [dir]);
    expect(readdirSync(dir)).toEqual([".signalbox-canary-new"]);
  });

  test("without a sandbox, the report has a warning and commands have the claim of the network", async () => {
    expect(describeSandbox(bare).summary).toContain("WITHOUT a sandbox");
    const approvals = createApprovals({ store: createTestApprovals() });
    const environment = async () => ({ FORECAST_KEY: "a-key-that-no-question-tells" });
    const agent = caller([createExecTool({ workspace, sandbox: bare, environment })], {
      facts: { role: "owner", taint: [{ source: "web", detail: "https://x.test" }] },
      approvals,
    });
    expect(textOf(await agent.call("exec", { command: "echo hi" }))).toContain("needs approval");
    const [open] = await approvals.list();
    // The request names the host's variables without their values.
    expect(open).toMatchObject({
      subject: {
        action: "echo hi",
        cwd: dir,
        binary: bare.shell,
        env: { ...bare.env, FORECAST_KEY: "(configured)" },
      },
    });
    expect(open?.reason).toContain("web `https://x.test`");
    await approvals.resolve(open?.id ?? "", "allow", "owner");
    expect(textOf(await agent.call("exec", { command: "echo hi" }))).toBe("hi\n[exit code 0]");
  });
});
