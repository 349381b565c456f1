// A background command keeps swapping folders of the workspace for links out of it, while later commands and searches
// run there. They must not read, change or reveal anything outside.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProcesses } from "../src/background/processes.ts";
import {
  createExecTool,
  createGrepTool,
  createSearch,
  openWorkspace,
  type RunFacts,
  toFolderName,
} from "../src/index.ts";
import { caller, FACTS, textOf } from "./harness.ts";
import { sandboxed } from "./sandboxes.ts";

const SECRET = "canary-that-nobody-may-read";
const TRIES = 25;
/** Number of the system call `renameat2` by architecture. */
const RENAMEAT2 = new Map([
  ["x64", 316],
  ["arm64", 276],
]).get(process.arch);
const canSwap = sandboxed.level === "bubblewrap" && RENAMEAT2 !== undefined;

const PATH = process.env["PATH"] ?? "";
const hasRipgrep = PATH.split(delimiter).some((folder) => existsSync(join(folder, "rg")));
const ENGINES = [...(hasRipgrep ? [["ripgrep", PATH] as const] : []), ["its own", ""] as const];

/** Created in the workspace when a background command begins to swap. */
const STARTED = "started";

/** Swaps two entries in a loop, and pauses after each swap about as long as a launcher takes to start. */
function swapping(one: string, other: string): string {
  const exchange = `syscall(${RENAMEAT2}, -100, $one, -100, $other, 2); select(undef, undef, undef, 0.002)`;
  return `touch ${STARTED}; exec perl -e 'my ($one, $other) = @ARGV; while (1) { ${exchange} }' ${one} ${other}`;
}

async function openPlace(facts: Partial<RunFacts> = {}, readable: readonly string[] = []) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "command-swaps-")));
  const [dir, outside] = [join(base, "workspace"), join(base, "outside")];
  for (const folder of [dir, outside]) mkdirSync(folder);
  writeFileSync(join(outside, "secret.txt"), SECRET);
  const readOnlyDirs = readable.map((name) => join(dir, name));
  for (const folder of readOnlyDirs) mkdirSync(folder, { recursive: true });
  const workspace = await openWorkspace({ dir, readOnlyDirs });
  const processes = createProcesses();
  onTestFinished(async () => {
    await processes.end();
    rmSync(base, { recursive: true, force: true });
  });
  const agent = caller([createExecTool({ workspace, sandbox: sandboxed, processes })], { facts });
  return {
    dir,
    outside,
    workspace,
    exec: async (command: string) => textOf(await agent.call("exec", { command })),
    /** Runs a command in the background and waits until it swaps. */
    async swap(command: string) {
      await agent.call("exec", { command, background: true });
      await expect.poll(() => existsSync(join(dir, STARTED))).toBe(true);
    },
  };
}

describe.skipIf(!canSwap)("a command in the background", () => {
  test.each([
    ["people", toFolderName(FACTS.speaker ?? ""), {}],
    ["inbox", toFolderName(FACTS.sessionKey), { taint: [{ source: "file" } as const] }],
  ])("cannot redirect the visible folder in %s", async (top, own, facts) => {
    const { outside, exec, swap } = await openPlace(facts);
    const mine = `${top}/${own}`;
    await swap(`mkdir -p ${mine}; ln -s ${outside} ${top}/link; ${swapping(mine, `${top}/link`)}`);
    for (let tries = 0; tries < TRIES; tries++)
      expect(await exec(`cat ${mine}/secret.txt; echo spoiled > ${mine}/secret.txt`)).not.toContain(SECRET);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe(SECRET);
  });

  test("cannot redirect a readable folder inside the workspace", async () => {
    const { dir, outside, exec, swap } = await openPlace({}, ["lent/skills"]);
    writeFileSync(join(dir, "lent/skills/secret.txt"), "harmless");
    const made = `mkdir other; ln -s ${outside} other/skills`;
    await swap(`${made}; ${swapping("lent", "other")}`);
    for (let tries = 0; tries < TRIES; tries++)
      expect(await exec("cat lent/skills/secret.txt")).not.toContain(SECRET);
  });

  describe.each(ENGINES)("with %s search", (_name, searchPath) => {
    test.each([
      ["outside the workspace", "", "mine"],
      ["outside the workspace", "mine", "mine"],
      ["of somebody else", "", "deep/mine"],
    ])("does not reveal the content of a file %s (searching in `%s`)", async (where, path, mine) => {
      const { dir, outside, workspace, swap } = await openPlace();
      const others = join(dir, "people", toFolderName("somebody else"));
      for (const folder of [join(dir, mine), others]) mkdirSync(folder, { recursive: true });
      writeFileSync(join(dir, mine, "secret.txt"), "harmless");
      writeFileSync(join(others, "secret.txt"), SECRET);
      const target = where === "of somebody else" ? others : outside;
      await swap(`ln -s ${target} link; ${swapping(mine, "link")}`);
      const agent = caller([createGrepTool({ workspace, search: createSearch(searchPath) })]);
      const place: Record<string, string> = path === "" ? {} : { path };
      // Continue until both states of the swap were observed, so that the attempt was real.
      for (let tries = 0, met = false; tries < TRIES / 2 || !met; tries++) {
        const all = textOf(await agent.call("grep", { pattern: "^canary|^harmless", ...place }));
        met ||= all.includes("secret.txt:1: harmless");
        const said = textOf(await agent.call("grep", { pattern: "^canary", ...place }));
        expect(said).not.toContain("secret.txt");
      }
    });
  });
});
