import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createExecTool, describeSandbox, openWorkspace, startSandbox } from "../src/index.ts";
import { openCommandGroups } from "../src/sandbox/cgroups.ts";
import { caller, textOf } from "./harness.ts";

const MB = 1_048_576;
const limits = { timeoutMs: 60_000, backgroundMs: 20_000, memoryBytes: 128 * MB, processes: 32 };
const ALL = { ...limits, diskBytes: MB, scratchBytes: MB, outputChars: 1_000 };

function folder(files: Readonly<Record<string, string>> = {}): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "cgroups-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

describe("creates groups", () => {
  test("in a delegated unified hierarchy, next to a group for the gateway", () => {
    const root = folder({ "own.slice/cgroup.controllers": "cpu memory pids\n", self: "0::/own.slice\n" });
    const groups = openCommandGroups(ALL, { root, ownGroupsFile: join(root, "self"), pid: 7 });
    expect(groups?.version).toBe("v2");
    const read = (path: string) => readFileSync(join(root, "own.slice", path), "utf8");
    expect(read("signalbox-gateway/cgroup.procs")).toBe("7");
    expect(read("cgroup.subtree_control")).toBe("+memory +pids");
    expect(read("signalbox-commands/cgroup.subtree_control")).toBe("+memory +pids");
    const { args } = groups?.create().enter({ file: "/bin/true", args: ["x"] }) ?? { args: [] };
    const [group = ""] = args.filter((each) => each.startsWith(root));
    expect(readFileSync(join(group, "memory.max"), "utf8")).toBe(String(128 * MB));
    expect(readFileSync(join(group, "memory.swap.max"), "utf8")).toBe("0");
    expect(readFileSync(join(group, "pids.max"), "utf8")).toBe("32");
    expect(args.slice(-2)).toEqual(["/bin/true", "x"]);
  });

  test("next to groups that a killed process with the same id left behind", () => {
    const root = folder({ "own.slice/cgroup.controllers": "cpu memory pids\n", self: "0::/own.slice\n" });
    const groups = openCommandGroups(ALL, { root, ownGroupsFile: join(root, "self"), pid: 7 });
    const commands = join(root, "own.slice/signalbox-commands");
    for (let left = 1; left <= 200; left++)
      mkdirSync(join(commands, `signalbox-command-${process.pid}-${left}`));
    expect(() => groups?.create()).not.toThrow();
  });

  test("not in a hierarchy without the controllers", () => {
    const root = folder({ "own.slice/cgroup.controllers": "cpu\n", self: "0::/own.slice\n" });
    expect(openCommandGroups(ALL, { root, ownGroupsFile: join(root, "self") })).toBeUndefined();
    expect(openCommandGroups(ALL, { root: "/proc", ownGroupsFile: join(root, "self") })).toBeUndefined();
    expect(readdirSync(join(root, "own.slice"))).toEqual(["cgroup.controllers"]);
  });
});

const sandbox = await startSandbox({ limits });
const groups = openCommandGroups(ALL);
const isLimited = sandbox.level === "bubblewrap" && groups !== undefined;
if (!isLimited)
  console.log(`skipped: limits of the kernel, since ${sandbox.reason ?? "no cgroup can be created here"}`);

/** Returns the folders in which command groups are created, one for each hierarchy. */
async function foldersOfGroups(): Promise<readonly string[]> {
  const group = groups?.create();
  const { args } = group?.enter({ file: "true", args: [] }) ?? { args: [] };
  const own = args.filter((each) => each.startsWith("/sys/"));
  expect(own.map((path) => existsSync(path))).not.toContain(false);
  await group?.remove();
  return own.map((path) => dirname(path));
}

describe.skipIf(!isLimited)("a command in a group", () => {
  const run = async (command: string) => {
    const workspace = await openWorkspace({ dir: folder() });
    const agent = caller([createExecTool({ workspace, sandbox })], { facts: { role: "owner" } });
    return textOf(await agent.call("exec", { command }));
  };

  test("is stopped at the memory limit, also after a short burst", async () => {
    const mapped =
      'my $n = 300 << 20; my $at = syscall(9, 0, $n, 3, 0x21, -1, 0); open my $z, "<", "/dev/zero"; syscall(0, fileno($z), $at, $n); print "ran to its end";';
    const said = await run(`perl -e '${mapped}'`);
    expect(said).not.toContain("ran to its end");
    expect(said).toContain("stopped: more than 128 MB of memory");
  });

  test("never has more processes than the limit", async () => {
    const forks =
      "for (1 .. 60) { my $p = fork; last unless defined $p; sleep 5, exit unless $p; $n++ } print $n";
    expect(Number(/^\d+/.exec(await run(`perl -e '${forks}; kill 9, -$$'`))?.[0] ?? 0)).toBeLessThan(32);
  });

  test("leaves no group behind, and the report names the kernel's limits", async () => {
    const folders = await foldersOfGroups();
    const names = () =>
      folders.map((dir) => readdirSync(dir).filter((name) => name.includes(`-${process.pid}-`)));
    const before = new Set(names().flat());
    expect(await run("true")).toContain("exit code 0");
    expect(describeSandbox(sandbox).notes.join(" ")).toContain(`(cgroup ${groups?.version})`);
    const added = () => names().map((all) => all.filter((name) => !before.has(name)).length);
    await expect.poll(added).toEqual(folders.map(() => 0));
  });
});

test("without groups, the report says that the watchdog checks the memory", async () => {
  const without = await startSandbox({
    setting: "none",
    cgroups: { root: "/proc" },
  });
  expect(describeSandbox(without).notes.join(" ")).toContain("no cgroup can be created here");
});
