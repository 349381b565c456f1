import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openBundle } from "@signalbox/cli/bundle";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";

const OPEN = import.meta.resolve("@signalbox/cli/bundle");
/** A module that does much where it is asked to. */
const part = (word: string) => `
function work() { ${"for (const n of [1, 2, 3]) if (n > 3) throw n;".repeat(200)} }
exports.say = (busy) => { if (busy) work(); return "${word} from " + importMeta.url.slice(-8); };
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "part.cjs"), part("one"));
  writeFileSync(
    join(folder, "code.cjs"),
    `const { say } = require("./part.cjs");
exports.main = async () => {
  const { basename } = require("node:path");
  const { default: os } = await importOutside("node:os");
  console.log(say(process.argv[3] === "busy"), basename("/a/b"), os.EOL.length, require("./part.cjs").say === say);
};
`,
  );
  writeFileSync(
    join(folder, "open.mjs"),
    `import { openBundle, optimiseAfter } from ${JSON.stringify(OPEN)};
const [, , purpose, how, keptIn] = process.argv;
const importOutside = (id) => import(id);
if (how.startsWith("later")) {
  optimiseAfter(0);
  // By then it does, or the process ends before it does.
  if (how === "later") await new Promise((resolve) => setTimeout(resolve, 5));
}
await openBundle({ meta: import.meta, keptIn, purpose, importOutside })("code.cjs").main();
`,
  );
});

const kept = () => join(folder, "kept");

function run(purpose: string, how = "idle", keptIn: string[] = [kept()]): string {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, "open.mjs"), purpose, how, ...keptIn],
    { encoding: "utf8" },
  );
  return stdout + stderr;
}

/** The file that is kept for the larger module. */
function largest(purpose: string): string {
  const files = readdirSync(kept()).filter((name) => name.startsWith(`${purpose}-`));
  const bySize = files.map((name) => join(kept(), name)).sort((a, b) => statSync(b).size - statSync(a).size);
  return bySize[0] ?? "";
}

it("runs the files of a bundle as CommonJS, with the import.meta of the module that opened it", () => {
  expect(run("start")).toBe("one from open.mjs b 1 true\n");
});

it("keeps nothing where no folder is given", () => {
  expect(run("start", "idle", [])).toBe("one from open.mjs b 1 true\n");
  expect(readdirSync(folder)).not.toContain("kept");
});

it("keeps the functions that ran, for each purpose its own, and does not write what it took", () => {
  run("idle");
  run("busy", "busy");
  expect(statSync(largest("busy")).size).toBeGreaterThan(2 * statSync(largest("idle")).size);
  const { ino } = statSync(largest("busy"));
  expect(run("busy", "busy")).toBe("one from open.mjs b 1 true\n");
  expect(statSync(largest("busy")).ino).toBe(ino);
});

it.each(["later", "later, and sooner at its end"])("takes what it kept where it optimises %s", (how) => {
  run("start", how);
  const { ino } = statSync(largest("start"));
  for (const again of ["later", "later, and sooner at its end"]) {
    expect(run("start", again)).toBe("one from open.mjs b 1 true\n");
    expect(statSync(largest("start")).ino).toBe(ino);
  }
});

it("runs what a file says now, also where that is of the same length", () => {
  run("start");
  writeFileSync(join(folder, "part.cjs"), part("two"));
  expect(run("start")).toBe("two from open.mjs b 1 true\n");
});

it("compiles again what was damaged, and keeps that", () => {
  run("start");
  const file = largest("start");
  const whole = readFileSync(file);
  for (const damaged of [
    whole.with(whole.length - 100, 255 - (whole.at(-100) ?? 0)),
    whole.subarray(0, 900),
    Buffer.alloc(0),
  ]) {
    writeFileSync(file, damaged);
    expect(run("start")).toBe("one from open.mjs b 1 true\n");
    expect(readFileSync(file).byteLength).toBe(whole.byteLength);
  }
});

it("keeps what ran in the first seconds of a service, and what has run since when it ends", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const atExit = vi.spyOn(process, "once").mockReturnThis();
  const meta = { ...import.meta, dirname: folder, url: `${pathToFileURL(join(folder, "open.mjs"))}` };
  const importOutside = (id: string): Promise<unknown> => import(id);
  const load = openBundle({ meta, importOutside, keptIn: kept(), purpose: "start" });
  const { say } = load("part.cjs") as { say: (busy: boolean) => string };
  const [, end] = atExit.mock.calls[0] ?? [];
  vi.advanceTimersByTime(4_999);
  expect(existsSync(kept())).toBe(false);
  vi.advanceTimersByTime(1);
  await vi.waitUntil(() => existsSync(largest("start")));
  const { size, ino } = statSync(largest("start"));
  end?.(0);
  expect(statSync(largest("start")).ino).toBe(ino);
  say(true);
  end?.(1);
  expect(statSync(largest("start")).ino).toBe(ino);
  end?.(0);
  expect(statSync(largest("start")).size).toBeGreaterThan(2 * size);
});

it("closes to others the folder that it keeps code in", () => {
  mkdirSync(kept());
  chmodSync(kept(), 0o777);
  run("start");
  expect(statSync(kept()).mode & 0o777).toBe(0o755);
  expect(readdirSync(kept())).not.toEqual([]);
});

it.skipIf(process.getuid?.() !== 0)(
  "takes and keeps nothing in a folder of somebody else's, nor a file",
  () => {
    run("start");
    const file = largest("start");
    chownSync(file, 65_534, 65_534);
    run("start");
    expect(statSync(file).uid).toBe(0);
    chownSync(kept(), 65_534, 65_534);
    run("other");
    expect(readdirSync(kept()).some((name) => name.startsWith("other"))).toBe(false);
  },
);

it("keeps nothing of a process that failed", () => {
  writeFileSync(join(folder, "part.cjs"), `${part("one")} process.exitCode = 64;`);
  expect(run("strat")).toBe("one from open.mjs b 1 true\n");
  expect(readdirSync(folder)).not.toContain("kept");
});

it("removes what no process has read for a month, and nothing that others keep there", () => {
  run("start");
  const before = readdirSync(kept());
  const long = new Date(Date.now() - 31 * 24 * 3_600_000);
  const halfWritten = `${before[0]}.123`;
  for (const name of [...before, halfWritten, "0a1b2c"]) {
    writeFileSync(join(kept(), name), "");
    utimesSync(join(kept(), name), long, long);
  }
  run("send");
  const after = readdirSync(kept());
  expect(after).toContain("0a1b2c");
  expect(after.filter((name) => [...before, halfWritten].includes(name))).toEqual([]);
  expect(after).toHaveLength(before.length + 1);
});

it("says of a file that is gone what Node.js says of such a module", () => {
  rmSync(join(folder, "part.cjs"));
  const said = run("start");
  expect(said).toContain("code: 'ERR_MODULE_NOT_FOUND'");
  expect(said).toContain(`url: '${pathToFileURL(join(folder, "part.cjs"))}'`);
});

it("runs also where nothing can be kept", () => {
  writeFileSync(join(folder, "file"), "");
  expect(run("start", "idle", [join(folder, "file", "kept")])).toBe("one from open.mjs b 1 true\n");
});
