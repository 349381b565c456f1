import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createApprovals,
  createExecTool,
  createMemoryApprovalStore,
  createReadTool,
  createWriteTool,
  describeSandbox,
  openWorkspace,
  type Sandbox,
  startSandbox,
  type Workspace,
} from "../src/index.ts";
import { selfTest } from "../src/sandbox/self-test.ts";
import { caller, textOf } from "./harness.ts";

const sandboxed = await startSandbox({ limits: { timeoutMs: 20_000 } });
if (sandboxed.rung !== "bubblewrap")
  console.log(`skipped: commands in the sandbox, since ${sandboxed.reason}`);
const bare = await startSandbox({ setting: "none", limits: { timeoutMs: 20_000 } });

let dir: string;
let workspace: Workspace;
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "exec-")));
  workspace = await openWorkspace({ dir });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const tool = (sandbox: Sandbox) => createExecTool({ workspace, sandbox });
const alive = (mark: string): boolean => {
  try {
    return execFileSync("pgrep", ["-f", mark], { encoding: "utf8" }).trim() !== "";
  } catch {
    return false;
  }
};

/** Without a sandbox commands are an owner's alone. */
const OWNER = { role: "owner" } as const;
const byOwner = (exec: ReturnType<typeof tool>) => caller([exec], { facts: OWNER });

describe.skipIf(sandboxed.terminal !== true)("a command in a terminal", () => {
  const command = "test -t 0 && test -t 1 && stty size; exit 3";

  test("has one, with the size of a window, and its own exit code", async () => {
    const result = await byOwner(tool(sandboxed)).call("exec", { command, pty: true });
    expect(textOf(result)).toMatch(/^40 120\r?\n\[exit code 3\]$/);
    expect(textOf(await byOwner(tool(sandboxed)).call("exec", { command }))).toBe("[exit code 3]");
  });

  test("is as confined, and ended, as any other", async () => {
    const mark = `34.${process.pid}`;
    const said = `cat '${dir}/../canary' 2>&1; id -u; it='quoted \\'; echo "$it"; sleep ${mark}`;
    const result = await byOwner(tool(sandboxed)).call("exec", {
      command: said,
      pty: true,
      timeout_seconds: 2,
    });
    expect(textOf(result)).toMatch(
      /No such file or directory\r?\n[1-9]\d*\r?\nquoted \\\r?\n\[stopped: it took too long/,
    );
    await expect.poll(() => alive(`sleep ${mark}`)).toBe(false);
  });

  test("is shown as such to whoever is asked about it", async () => {
    const approvals = createApprovals({ store: createMemoryApprovalStore() });
    const policy = { allow: ["*"], askModes: { exec: "always" } } as const;
    const agent = caller([tool(sandboxed)], { facts: OWNER, policy, approvals });
    await agent.call("exec", { command: "top", pty: true });
    expect((await approvals.list({ states: ["pending"] })).map(({ subject }) => subject.action)).toEqual([
      "top\n[in a terminal]",
    ]);
  });
});

describe.each([
  ["bubblewrap", sandboxed],
  ["none", bare],
])("on the rung %s", (rung, sandbox) => {
  const usable = sandbox.rung === rung;

  test.skipIf(!usable)(
    "a command finds what its host sets besides, which takes nothing of the sandbox's place",
    async () => {
      const environment = async () => ({ GREETING: "hello $HOME; '\"", PATH: "/elsewhere" });
      const agent = byOwner(createExecTool({ workspace, sandbox, environment }));
      const result = await agent.call("exec", { command: 'echo "[$GREETING]"; ls' });
      expect(textOf(result)).toContain(`[hello $HOME; '"]`);
    },
  );

  test.skipIf(!usable)(
    "a command runs in the workspace, and its output and exit code come back",
    async () => {
      const agent = byOwner(tool(sandbox));
      const result = await agent.call("exec", { command: "pwd; echo problem >&2; echo 你好 > made" });
      expect(textOf(result)).toBe(`${dir}\nproblem\n[exit code 0]`);
      expect(result).not.toHaveProperty("isError");
      expect(result.details).toMatchObject({ exitCode: 0, sandbox: rung });
      expect(readFileSync(join(dir, "made"), "utf8")).toBe("你好\n");
    },
  );

  test.skipIf(!usable)("a failure is an error with its code", async () => {
    const result = await byOwner(tool(sandbox)).call("exec", { command: "echo no; exit 3" });
    expect(textOf(result)).toBe("no\n[exit code 3]");
    expect(result.isError).toBe(true);
    expect(textOf(await byOwner(tool(sandbox)).call("exec", { command: "kill -TERM $$" }))).toMatch(
      /SIGTERM|exit code 143/,
    );
  });

  test.skipIf(!usable)("a folder to run in can be given", async () => {
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

  test.skipIf(!usable)("a time-out ends everything that was started", async () => {
    const mark = `31.${process.pid}${rung === "none" ? 1 : 2}`;
    const command = `echo started; sleep ${mark} & sleep ${mark}; echo never`;
    const result = await byOwner(tool(sandbox)).call("exec", { command, timeout_seconds: 0.5 });
    expect(textOf(result)).toBe("started\n[stopped: it took too long; do less at once]");
    expect(result.details).toMatchObject({ stopped: "timeout" });
    await expect.poll(() => alive(`sleep ${mark}`)).toBe(false);
  });

  test.skipIf(!usable)("an abort ends everything that was started", async () => {
    const mark = `32.${process.pid}${rung === "none" ? 1 : 2}`;
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

  test.skipIf(!usable)("output beyond the limit is dropped as it comes, start and end kept", async () => {
    const command = "for i in $(seq 1 60000); do echo line $i; done; echo the end";
    const result = await byOwner(tool(sandbox)).call("exec", { command });
    const text = textOf(result);
    expect(text.length).toBeLessThan(15_200);
    expect(text).toMatch(/^line 1\nline 2\n/);
    expect(text).toMatch(/characters left out …\]/);
    expect(text).toMatch(/line 60000\nthe end\n\[exit code 0\]$/);
  });

  test.skipIf(!usable)("as much output is kept as a result may have", async () => {
    const command = "for i in $(seq 1 5000); do echo line $i; done";
    const large = caller([tool(sandbox)], { facts: OWNER, resultChars: 64_000 });
    const text = textOf(await large.call("exec", { command }));
    expect(text).not.toContain("left out");
    expect(text.split("\n")).toHaveLength(5_001);
  });

  test.skipIf(!usable)("output without end ends the command", async () => {
    const result = await byOwner(tool(sandbox)).call("exec", { command: "yes" });
    expect(textOf(result)).toMatch(/\[stopped: it wrote far too much; send it to a file or filter it\]$/);
  });

  test.skipIf(!usable)("the longest command that is taken can be run", async () => {
    const agent = byOwner(tool(sandbox));
    const command = `echo ran # ${"长".repeat(39_989)}`;
    expect(command).toHaveLength(40_000);
    expect(textOf(await agent.call("exec", { command }))).toBe("ran\n[exit code 0]");
    expect(await agent.call("exec", { command: `${command}长` })).toMatchObject({ isError: true });
  });

  test.skipIf(!usable)("the environment is a clean one", async () => {
    process.env["SIGNALBOX_TEST_SECRET"] = "do-not-pass-on";
    const text = textOf(await byOwner(tool(sandbox)).call("exec", { command: "env" }));
    delete process.env["SIGNALBOX_TEST_SECRET"];
    expect(text).not.toContain("do-not-pass-on");
    const names = text.split("\n").flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);
    expect(names.sort()).toEqual(["HOME", "LANG", "PATH", "PWD", "SHLVL", "TERM", "TMPDIR", "USER", "_"]);
  });

  test.skipIf(!usable)("too many processes end the command", async () => {
    const limited = await startSandbox({
      setting: rung === "none" ? "none" : "default",
      limits: { processes: 20, timeoutMs: 20_000 },
    });
    const command = "for i in $(seq 1 60); do sleep 15 & done 2>/dev/null; wait";
    const text = textOf(await byOwner(tool(limited)).call("exec", { command }));
    // For root the watchdog ends it; for others the kernel refuses first, and the shell gives up by itself.
    expect(text).toMatch(/more than 20 processes|retry|Resource temporarily unavailable|fork/i);
  });

  test.skipIf(!usable)("too much memory ends the command", async () => {
    const limited = await startSandbox({
      setting: rung === "none" ? "none" : "default",
      limits: { memoryBytes: 100_000_000, timeoutMs: 20_000 },
    });
    const command = "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}";
    const text = textOf(await byOwner(tool(limited)).call("exec", { command }));
    expect(text).not.toContain("300000000");
    expect(text).toMatch(/memory|allocate|exit code [1-9]|SIG/i);
  });
});

describe.skipIf(sandboxed.rung !== "bubblewrap")("the sandbox", () => {
  test.each([
    ["AF_VSOCK", "socket(my $s, 40, 1, 0)", "Address family not supported"],
    ["AF_PACKET", "socket(my $s, 17, 3, 0)", "Address family not supported"],
    ["AF_ALG", "socket(my $s, 38, 5, 0)", "Address family not supported"],
    ["memfd_create", "syscall(319, $0, 0) >= 0", "Function not implemented"],
    ["shmget", "syscall(29, 0, 4096, 01600) >= 0", "Function not implemented"],
    ["io_uring_setup", "syscall(425, 1, 0) >= 0", "Function not implemented"],
    ["keyctl", "syscall(250, 0, -3, 1) >= 0", "Function not implemented"],
  ])("refuses %s", async (_, call, why) => {
    const command = `perl -e '(${call}) ? print "opened" : print "$!"'`;
    expect(textOf(await caller([tool(sandboxed)]).call("exec", { command }))).toContain(why);
  });

  test("ordinary sockets open, files are made with ordinary rights", async () => {
    const command =
      "perl -MSocket -e 'print socket(my $s, AF_INET, SOCK_STREAM, 0) && socket(my $u, AF_UNIX, SOCK_STREAM, 0) ? 1 : $!'; umask 022; touch a; chmod 755 a; mkdir d; stat -c %a a d";
    expect(textOf(await caller([tool(sandboxed)]).call("exec", { command }))).toBe(
      "1755\n755\n[exit code 0]",
    );
  });

  test("no file is left that runs as the gateway's user", async () => {
    const tries = [
      "cp /bin/true a; chmod u+s a",
      "cp /bin/true b; chmod 6755 b",
      'perl -e \'syscall(85, "c", 04755); syscall(2, "d", 0101, 04755); syscall(257, -100, "e", 0101, 04755)\'',
      'perl -e \'syscall(437, -100, "f", pack("QQQ", 0101, 04755, 0), 24); syscall(133, "g", 0104755, 0)\'',
      "mkdir -m 2755 h; install -m 4755 /bin/true i",
      "printf 'x' | tar --version >/dev/null; cp /bin/true j; tar cf t.tar --mode=4755 j; rm j; tar xpf t.tar",
    ];
    for (const command of tries) await caller([tool(sandboxed)]).call("exec", { command });
    const special = readdirSync(dir).filter((name) => (statSync(join(dir, name)).mode & 0o6000) !== 0);
    expect([readdirSync(dir).length > 4, special]).toEqual([true, []]);
  });

  test("memory that is shared counts as memory, once", async () => {
    const limited = await startSandbox({ limits: { memoryBytes: 150_000_000, timeoutMs: 20_000 } });
    const run = (megabytes: number, processes: number) => {
      const program = `
#include <sys/mman.h>
#include <string.h>
#include <unistd.h>
int main(void) { size_t n = ${megabytes}UL << 20; char *p = mmap(0, n, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
for (size_t i = 0; i < n; i += 4096) p[i] = 1; for (int i = 1; i < ${processes}; i++) if (!fork()) break;
for (size_t i = 0; i < n; i += 4096) p[i] = 2; usleep(600000); return 0; }`;
      return caller([tool(limited)]).call("exec", {
        command: `cat > p.c <<'END'${program}\nEND\ngcc -o p p.c && ./p && echo through`,
      });
    };
    const [tooMuch, shared] = [await run(400, 1), await run(60, 4)];
    if (/gcc: .*not found/.test(textOf(tooMuch))) return console.log("skipped: there is no compiler");
    expect([tooMuch.details, textOf(shared)]).toMatchObject([
      { stopped: "memory" },
      expect.stringContaining("through"),
    ]);
  });

  test("what fills the disk ends", async () => {
    const limited = await startSandbox({ limits: { diskBytes: 50_000_000, timeoutMs: 20_000 } });
    const agent = caller([tool(limited)]);
    const one = textOf(await agent.call("exec", { command: "head -c 200000000 /dev/zero > big; echo $?" }));
    expect([statSync(join(dir, "big")).size <= 52_000_000, one]).toMatchObject([true, expect.any(String)]);
    const command = "for i in $(seq 2000); do head -c 10000000 /dev/zero > f$i; done; echo through";
    expect((await agent.call("exec", { command })).details).toMatchObject({ stopped: "disk" });
  });

  test("runs without rights and without a network", async () => {
    const command =
      "id -u; grep CapEff /proc/self/status; grep -c : /proc/net/dev; grep NoNewPrivs /proc/self/status; echo x > /x";
    expect(textOf(await caller([tool(sandboxed)]).call("exec", { command }))).toMatch(
      /^1000\nCapEff:\t0{16}\n1\nNoNewPrivs:\t1\n.*Read-only file system\n\[exit code 1\]$/,
    );
  });

  test("a command with a zero byte does not become options of the launcher", async () => {
    const secret = join(dirname(dir), `${basename(dir)}.secret`);
    writeFileSync(secret, "outside");
    try {
      const command = `true\0--ro-bind\0${secret}\0/tmp/secret\0--setenv\0SIGNALBOX_COMMAND\0cat /tmp/secret`;
      const said = textOf(await caller([tool(sandboxed)]).call("exec", { command }));
      expect(said).toContain("cannot hold a zero byte");
      expect(said).not.toContain("outside");
    } finally {
      rmSync(secret);
    }
  });

  test("a command is told by nothing that it could find again", async () => {
    const agent = caller([tool(sandboxed)]);
    const said = textOf(await agent.call("exec", { command: "env | grep -c SIGNALBOX" }));
    expect(said).toMatch(/^0\n/);
  });

  test("a command does not get what whoever started the gateway has left open", async () => {
    const secret = join(dirname(dir), `${basename(dir)}.secret`);
    writeFileSync(secret, "outside");
    const left = openSync(secret, "r+");
    const program = `
      import { startSandbox } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
      const { rung, reason, run } = await startSandbox({ canaryDirs: [${JSON.stringify(dir)}] });
      const { output } = await run({
        script: "cat /proc/self/fd/24 || echo closed",
        folders: { dir: ${JSON.stringify(dir)}, readOnlyDirs: [], forbidden: [] },
        cwd: ${JSON.stringify(dir)},
        protect: { files: [], folders: [] },
        covers: [],
        signal: AbortSignal.timeout(20_000),
      });
      console.log(rung, output);
    `;
    try {
      const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
        encoding: "utf8",
        // The twenty-fifth: Node.js itself closes what lies side by side from the beginning.
        stdio: ["ignore", "pipe", "inherit", ...Array.from({ length: 21 }, () => "ignore" as const), left],
      });
      expect(said).toMatch(/^bubblewrap .*closed/s);
      expect(said).not.toContain("outside");
    } finally {
      closeSync(left);
      rmSync(secret);
    }
  });

  test("what waits for the next command ends with the process that it waits for", async () => {
    const program = `
      import { startSandbox } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
      const { rung } = await startSandbox({ canaryDirs: [${JSON.stringify(dir)}] });
      console.log(rung, process.pid);
    `;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    const [, pid] = /^bubblewrap (\d+)$/m.exec(said) ?? [];
    expect(pid).toBeDefined();
    await expect.poll(() => alive(`signalbox-command-${pid}-`)).toBe(false);
  });

  test("scratch space is bounded, and empty each time", async () => {
    const small = await startSandbox({ limits: { scratchBytes: 1_000_000, timeoutMs: 20_000 } });
    const agent = caller([tool(small)]);
    expect(
      textOf(await agent.call("exec", { command: "head -c 5000000 /dev/zero > /tmp/x || echo full" })),
    ).toContain("full");
    expect(
      textOf(await agent.call("exec", { command: "head -c 5000000 /dev/zero > /dev/shm/x || echo full" })),
    ).toContain("full");
    expect(textOf(await agent.call("exec", { command: "ls /tmp | grep -v exec-; echo none" }))).toContain(
      "none",
    );
  });

  test("a tainted run cannot change the agent's notes by a command, and leaves no trace of the guard", async () => {
    writeFileSync(join(dir, "AGENTS.md"), "mine");
    mkdirSync(join(dir, "memory"));
    writeFileSync(join(dir, "memory/a.md"), "mine");
    const agent = caller([tool(sandboxed)], { facts: { taint: [{ source: "web" }] } });
    const tries = [
      "echo spoiled > AGENTS.md",
      "echo spoiled > SOUL.md",
      "mv AGENTS.md x; echo spoiled > AGENTS.md",
      "rm -f AGENTS.md MEMORY.md",
      "ln -sf README.md USER.md",
      "echo spoiled > memory/a.md; echo spoiled > memory/b.md",
      "mv memory m; mkdir memory; echo spoiled > memory/a.md",
      "mkdir -p skills/evil; echo spoiled > skills/evil/SKILL.md",
      "sed -i s/mine/spoiled/ AGENTS.md",
    ];
    for (const command of tries) await agent.call("exec", { command: `${command}; echo fine > ok` });
    await Promise.all(tries.map((command) => agent.call("exec", { command })));
    expect(readdirSync(dir).sort()).toEqual(["AGENTS.md", "memory", "ok"]);
    expect(readFileSync(join(dir, "AGENTS.md"), "utf8")).toBe("mine");
    expect(readdirSync(join(dir, "memory"))).toEqual(["a.md"]);
    expect(readFileSync(join(dir, "memory/a.md"), "utf8")).toBe("mine");
  });

  test("the guard of one command holds when another's ends", async () => {
    const agent = caller([tool(sandboxed)], { facts: { taint: [{ source: "web" }] } });
    const late = "sleep 0.5; echo spoiled > SOUL.md; mkdir -p memory; echo spoiled > memory/a.md";
    const commands = ["true", late, "true", late, "true", late, "sleep 0.1", late];
    await Promise.all(commands.map((command) => agent.call("exec", { command })));
    expect(readdirSync(dir)).toEqual([]);
  });

  test("an owner's run that was not tainted may", async () => {
    await caller([tool(sandboxed)], { facts: { role: "owner" } }).call("exec", {
      command: "echo mine > SOUL.md",
    });
    expect(readFileSync(join(dir, "SOUL.md"), "utf8")).toBe("mine\n");
  });

  test("what is written over a guard from outside is kept", async () => {
    const agent = caller([tool(sandboxed)], { facts: { taint: [{ source: "web" }] } });
    const owner = caller([createWriteTool({ workspace })], { facts: { role: "owner" } });
    const running = agent.call("exec", { command: "echo up > started; sleep 1" });
    await expect.poll(() => existsSync(join(dir, "started"))).toBe(true);
    expect(textOf(await owner.call("write", { file_path: "MEMORY.md", content: "kept" }))).toContain(
      "Wrote MEMORY.md",
    );
    await running;
    expect(readFileSync(join(dir, "MEMORY.md"), "utf8")).toBe("kept");
  });

  test("further folders can be read and not written", async () => {
    const extra = mkdtempSync(join(tmpdir(), "extra-"));
    writeFileSync(join(extra, "lib"), "library");
    const more = await openWorkspace({ dir, readOnlyDirs: [extra] });
    const agent = caller([
      createExecTool({ workspace: more, sandbox: sandboxed }),
      createReadTool({ workspace: more }),
    ]);
    expect(textOf(await agent.call("exec", { command: `cat ${extra}/lib; echo x > ${extra}/x` }))).toMatch(
      /^library.*Read-only/,
    );
    expect(textOf(await agent.call("read", { file_path: join(extra, "lib") }))).toBe("library");
    rmSync(extra, { recursive: true });
  });
});

describe("a workspace around the gateway's home", () => {
  test("hides the home and shows the skills in it, to read", async () => {
    const home = join(dir, "home");
    for (const [name, text] of [
      ["token", "the token"],
      ["skills/one/SKILL.md", "a skill"],
      ["skills/private/key", "a key"],
    ] as const) {
      mkdirSync(dirname(join(home, name)), { recursive: true });
      writeFileSync(join(home, name), text);
    }
    const around = await openWorkspace({
      dir,
      readOnlyDirs: [join(home, "skills")],
      forbidden: [home, join(home, "token"), join(home, "skills/private")],
    });
    const agent = caller([createExecTool({ workspace: around, sandbox: sandboxed })]);
    const seen = textOf(
      await agent.call("exec", {
        command:
          "cat home/skills/one/SKILL.md; echo; cat home/token; ls home home/skills/private; echo x > home/skills/one/SKILL.md; echo x > home/token; echo mine > own",
      }),
    );
    expect(seen).toMatch(/^a skill\n/);
    expect(seen).toMatch(/Read-only file system/);
    expect(seen).not.toMatch(/the token|a key/);
    expect(readFileSync(join(home, "token"), "utf8")).toBe("the token");
    expect(readFileSync(join(home, "skills/one/SKILL.md"), "utf8")).toBe("a skill");
    expect(readFileSync(join(dir, "own"), "utf8")).toBe("mine\n");
  });
});

describe("choosing a rung", () => {
  test("where bubblewrap can start at all, its self-test passes", () => {
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
  ])("%s: exec is disabled and says why", async (_name, options, reason) => {
    const sandbox = await startSandbox(options);
    expect(sandbox.rung).toBe("disabled");
    expect(describeSandbox(sandbox)).toMatchObject({ ok: false, rung: "disabled" });
    expect(describeSandbox(sandbox).summary).toContain(reason);
    const result = await caller([tool(sandbox)]).call("exec", { command: "touch ran" });
    expect(textOf(result)).toContain(reason);
    expect(existsSync(join(dir, "ran"))).toBe(false);
  });

  test("a launcher that does not isolate fails the self-test", async () => {
    const fake = join(dir, "bwrap");
    // Takes nothing of what it is told but the command's variables, and runs what follows `--` without any isolation.
    const script = [
      `#!${process.execPath}`,
      'const told = require("node:fs").readFileSync(3, "utf8").split("\\0");',
      'told.forEach((each, i) => { if (each === "--setenv") process.env[told[i + 1]] = told[i + 2]; });',
      'const [file, ...args] = process.argv.slice(process.argv.indexOf("--") + 1);',
      'require("node:child_process").spawnSync(file, args, { stdio: "inherit" });',
    ];
    writeFileSync(fake, script.join("\n"), { mode: 0o755 });
    const sandbox = await startSandbox({ searchPath: dir });
    expect(sandbox).toMatchObject({
      rung: "disabled",
      reason: "the self-test could read a file outside the workspace.",
    });
  });

  test("a launcher that fails says so", async () => {
    writeFileSync(join(dir, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions' >&2; exit 1\n", {
      mode: 0o755,
    });
    const sandbox = await startSandbox({ searchPath: dir });
    expect(sandbox.rung).toBe("disabled");
    expect(sandbox.reason).toContain("bwrap: No permissions");
  });

  test("the self-test finds a rung without a sandbox wanting, and leaves nothing behind", async () => {
    expect(await selfTest(bare, [dir])).toContain("could read a file outside");
    expect(await selfTest(bare, [join(dir, "none")])).toContain("no folder");
    expect(readdirSync(dir)).toEqual([]);
    for (const [name, age] of [
      ["old", 3_600],
      ["new", 0],
    ] as const) {
      mkdirSync(join(dir, `.signalbox-canary-${name}`));
      const time = Date.now() / 1000 - age;
      utimesSync(join(dir, `.signalbox-canary-${name}`), time, time);
    }
    await selfTest(bare, [dir]);
    expect(readdirSync(dir)).toEqual([".signalbox-canary-new"]);
  });

  test("no sandbox is loudly noted, and its commands count as able to reach the network", async () => {
    expect(describeSandbox(bare).summary).toContain("WITHOUT a sandbox");
    const approvals = createApprovals({ store: createMemoryApprovalStore() });
    const environment = async () => ({ FORECAST_KEY: "a-key-that-no-question-tells" });
    const agent = caller([createExecTool({ workspace, sandbox: bare, environment })], {
      facts: { role: "owner", taint: [{ source: "web", detail: "https://x.test" }] },
      approvals,
    });
    expect(textOf(await agent.call("exec", { command: "echo hi" }))).toContain("needs an approval");
    const [open] = await approvals.list();
    // A question names what the host sets besides, and tells no values.
    expect(open).toMatchObject({
      subject: {
        action: "echo hi",
        cwd: dir,
        binary: bare.shell,
        env: { ...bare.env, FORECAST_KEY: "(configured)" },
      },
    });
    expect(open?.reason).toContain("web https://x.test");
    await approvals.resolve(open?.id ?? "", "allow", "owner");
    expect(textOf(await agent.call("exec", { command: "echo hi" }))).toBe("hi\n[exit code 0]");
  });
});
