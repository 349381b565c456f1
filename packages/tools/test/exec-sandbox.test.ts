import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  createExecTool,
  createReadTool,
  createWriteTool,
  openWorkspace,
  type Sandbox,
  startSandbox,
  type Workspace,
} from "../src/index.ts";
import { caller, textOf } from "./harness.ts";
import { alive, openFolder, sandboxed } from "./sandboxes.ts";

let dir: string;
let workspace: Workspace;
beforeEach(async () => {
  ({ dir, workspace } = await openFolder());
});

const tool = (sandbox: Sandbox) => createExecTool({ workspace, sandbox });

describe.skipIf(sandboxed.level !== "bubblewrap")("the sandbox", () => {
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

  test("allows ordinary sockets and file modes", async () => {
    const command =
      "perl -MSocket -e 'print socket(my $s, AF_INET, SOCK_STREAM, 0) && socket(my $u, AF_UNIX, SOCK_STREAM, 0) ? 1 : $!'; umask 022; touch a; chmod 755 a; mkdir d; stat -c %a a d";
    expect(textOf(await caller([tool(sandboxed)]).call("exec", { command }))).toBe(
      "1755\n755\n[exit code 0]",
    );
  });

  test("leaves no set-user-id file behind", async () => {
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

  test("counts shared memory once", async () => {
    const limited = await startSandbox({ limits: { memoryBytes: 150_000_000, timeoutMs: 60_000 } });
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

  test("stops a command that fills the disk", async () => {
    const limited = await startSandbox({ limits: { diskBytes: 50_000_000, timeoutMs: 60_000 } });
    const agent = caller([tool(limited)]);
    const one = textOf(await agent.call("exec", { command: "head -c 200000000 /dev/zero > big; echo $?" }));
    expect([statSync(join(dir, "big")).size <= 52_000_000, one]).toMatchObject([true, expect.any(String)]);
    const command = "for i in $(seq 2000); do head -c 10000000 /dev/zero > f$i; done; echo through";
    expect((await agent.call("exec", { command })).details).toMatchObject({ stopped: "disk" });
  });

  test("runs commands without capabilities and without a network", async () => {
    const command =
      "id -u; grep CapEff /proc/self/status; grep -c : /proc/net/dev; grep NoNewPrivs /proc/self/status; echo x > /x";
    expect(textOf(await caller([tool(sandboxed)]).call("exec", { command }))).toMatch(
      /^1000\nCapEff:\t0{16}\n1\nNoNewPrivs:\t1\n.*Read-only file system\n\[exit code 1\]$/,
    );
  });

  test("a NUL in a command cannot add options of the launcher", async () => {
    const secret = join(dirname(dir), `${basename(dir)}.secret`);
    writeFileSync(secret, "outside");
    try {
      const command = `true\0--ro-bind\0${secret}\0/tmp/secret\0--setenv\0SIGNALBOX_COMMAND\0cat /tmp/secret`;
      const said = textOf(await caller([tool(sandboxed)]).call("exec", { command }));
      expect(said).toContain("must not contain a NUL character");
      expect(said).not.toContain("outside");
    } finally {
      rmSync(secret);
    }
  });

  test("the launcher's variables are removed from the command's environment", async () => {
    const agent = caller([tool(sandboxed)]);
    const said = textOf(await agent.call("exec", { command: "env | grep -c SIGNALBOX" }));
    expect(said).toMatch(/^0\n/);
  });

  test("a command does not inherit open descriptors of the gateway", async () => {
    const secret = join(dirname(dir), `${basename(dir)}.secret`);
    writeFileSync(secret, "outside");
    const left = openSync(secret, "r+");
    const program = `
      import { startSandbox } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
      const { level, reason, run } = await startSandbox({ canaryDirs: [${JSON.stringify(dir)}] });
      const { output } = await run({
        script: "cat /proc/self/fd/24 || echo closed",
        folders: { dir: ${JSON.stringify(dir)}, readOnlyDirs: [], forbidden: [] },
        cwd: ${JSON.stringify(dir)},
        protect: { files: [], folders: [] },
        covers: [],
        signal: AbortSignal.timeout(120_000),
      });
      console.log(level, output);
    `;
    try {
      const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
        encoding: "utf8",
        // The 25th descriptor, because Node.js closes the first consecutive ones itself.
        stdio: ["ignore", "pipe", "inherit", ...Array.from({ length: 21 }, () => "ignore" as const), left],
      });
      expect(said).toMatch(/^bubblewrap .*closed/s);
      expect(said).not.toContain("outside");
    } finally {
      closeSync(left);
      rmSync(secret);
    }
  });

  test("no process of the sandbox outlives the gateway", async () => {
    const program = `
      import { startSandbox } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
      const { level } = await startSandbox({ canaryDirs: [${JSON.stringify(dir)}] });
      console.log(level, process.pid);
    `;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    const [, pid] = /^bubblewrap (\d+)$/m.exec(said) ?? [];
    expect(pid).toBeDefined();
    await expect.poll(() => alive(`signalbox-command-${pid}-`)).toBe(false);
  });

  test("scratch space is limited, and empty for each command", async () => {
    const small = await startSandbox({ limits: { scratchBytes: 1_000_000, timeoutMs: 60_000 } });
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

  test("a tainted run's command cannot change identity files, and no placeholder remains", async () => {
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

  test("the protection of a command remains when another command ends", async () => {
    const agent = caller([tool(sandboxed)], { facts: { taint: [{ source: "web" }] } });
    const late = "sleep 0.5; echo spoiled > SOUL.md; mkdir -p memory; echo spoiled > memory/a.md";
    const commands = ["true", late, "true", late, "true", late, "sleep 0.1", late];
    await Promise.all(commands.map((command) => agent.call("exec", { command })));
    expect(readdirSync(dir)).toEqual([]);
  });

  test("an owner's untainted run can change identity files", async () => {
    await caller([tool(sandboxed)], { facts: { role: "owner" } }).call("exec", {
      command: "echo mine > SOUL.md",
    });
    expect(readFileSync(join(dir, "SOUL.md"), "utf8")).toBe("mine\n");
  });

  test("a file that is written over a placeholder from outside is kept", async () => {
    const agent = caller([tool(sandboxed)], { facts: { taint: [{ source: "web" }] } });
    const owner = caller([createWriteTool({ workspace })], { facts: { role: "owner" } });
    const running = agent.call("exec", {
      command: "echo up > started; until test -e written; do sleep 0.05; done",
    });
    await expect.poll(() => existsSync(join(dir, "started"))).toBe(true);
    expect(textOf(await owner.call("write", { file_path: "MEMORY.md", content: "kept" }))).toContain(
      "Wrote MEMORY.md",
    );
    writeFileSync(join(dir, "written"), "");
    await running;
    expect(readFileSync(join(dir, "MEMORY.md"), "utf8")).toBe("kept");
  });

  test("further folders are readable, but not writable", async () => {
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

test("a readable folder that a command replaced by a link is not readable", async () => {
  const outside = mkdtempSync(join(tmpdir(), "outside-"));
  onTestFinished(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, "secret.txt"), "outside");
  symlinkSync(outside, join(dir, "skills"));
  const led = await openWorkspace({ dir, readOnlyDirs: [join(dir, "skills")] });
  const agent = caller([createReadTool({ workspace: led })]);
  for (const file_path of ["skills/secret.txt", join(outside, "secret.txt")])
    expect(textOf(await agent.call("read", { file_path }))).toContain("outside the workspace");
});

describe.skipIf(sandboxed.level !== "bubblewrap")("a workspace around the gateway's home", () => {
  test("hides the home and shows its skills read-only", async () => {
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
