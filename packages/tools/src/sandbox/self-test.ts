import { randomBytes } from "node:crypto";
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { seccompFilter } from "./seccomp.ts";
import type { Sandbox, SandboxOutcome } from "./types.ts";

const CANARY_PREFIX = ".signalbox-canary-";
const STALE_MS = 600_000;
/** Far longer than it takes, also on a busy machine. */
const LONGEST_MS = 30_000;

/**
 * Runs one command that tries to read and to write what it must not. Gives what went wrong, or `undefined`. The folders
 * must be ones that the gateway's user can write to; others are left out, but one is needed.
 *
 * @param descriptors those of this process that the command must not have
 */
export async function selfTest(
  sandbox: Sandbox,
  canaryDirs: readonly string[],
  descriptors: readonly string[] = [],
): Promise<string | undefined> {
  const secret = randomBytes(16).toString("hex");
  const planted: string[] = [];
  const made: string[] = [];
  try {
    for (const dir of canaryDirs) {
      await removeStale(dir);
      const folder = await mkdtemp(join(dir, CANARY_PREFIX)).catch(() => undefined);
      if (folder === undefined) continue;
      made.push(folder);
      await writeFile(join(folder, "canary"), secret, { mode: 0o644 });
      planted.push(await realpath(folder));
    }
    const [first] = planted;
    if (first === undefined) return "the self-test found no folder to plant its canary in.";
    const dir = join(first, "workspace");
    await mkdir(dir);
    const tries = planted.flatMap((folder) => [
      `cat '${folder}/canary'`,
      `cat '/proc/${process.pid}/root${folder}/canary'`,
      `echo spoiled > '${folder}/canary'`,
      `echo spoiled > '${folder}/planted'`,
    ]);
    const script = [
      ...tries,
      'touch special; chmod u+s special 2>/dev/null && echo "special=left"',
      ...descriptors.map((each) => `[ -e /proc/self/fd/${each} ] && echo "descriptor=left"`),
      'echo "uid=$(id -u)"',
      'echo "links=$(grep -c : /proc/net/dev)"',
      // The first process of a namespace of its own is the launcher.
      'echo "first=$(cat /proc/1/comm)"',
      "echo fine > proof",
    ].join("\n");
    const outcome = await sandbox.run({
      script,
      folders: { dir, readOnlyDirs: [], forbidden: [] },
      cwd: dir,
      protect: { files: [], folders: [] },
      covers: [],
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    if (outcome.output.includes(secret)) return "the self-test could read a file outside the workspace.";
    for (const folder of planted) {
      const after = await readFile(join(folder, "canary"), "utf8").catch(() => "");
      const extra = await readFile(join(folder, "planted"), "utf8").catch(() => undefined);
      if (after !== secret || extra !== undefined) return "the self-test could write outside the workspace.";
    }
    if (outcome.stopped !== undefined)
      return `the self-test was ended before its time: ${ENDED[outcome.stopped]}.`;
    if (!/^uid=[1-9]\d*$/m.test(outcome.output))
      return `the self-test did not run as an ordinary user. ${hint(outcome.output)}`;
    if (seccompFilter(process.arch) !== undefined && outcome.output.includes("special=left"))
      return "the self-test could leave a file with the set-user-id bit.";
    if (outcome.output.includes("descriptor=left"))
      return "the self-test had a file open that whoever started the gateway left open.";
    if (!outcome.output.includes("links=1\n")) return "the self-test found a network.";
    if (!outcome.output.includes("first=bwrap\n")) return "the self-test saw processes outside.";
    const proof = await readFile(join(dir, "proof"), "utf8").catch(() => "");
    return proof === "fine\n" ? undefined : "the self-test could not write in its workspace.";
  } catch (error) {
    return `the sandbox does not start here: ${reasonOf(error)} Unprivileged user namespaces may be turned off.`;
  } finally {
    for (const folder of made) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

const ENDED: Readonly<Record<NonNullable<SandboxOutcome["stopped"]>, string>> = {
  abort: `it took longer than ${LONGEST_MS / 1_000} s`,
  timeout: "it took longer than a command may",
  disk: "the disk is full",
  memory: "it took more memory than a command may",
  processes: "it had more processes than a command may",
  output: "it wrote more than a command may",
};

/** What self-tests that were killed half-way have left. */
async function removeStale(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name);
    if (!name.startsWith(CANARY_PREFIX)) continue;
    const made = (await lstat(path).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - made > STALE_MS) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

function hint(output: string): string {
  return output.split("\n", 1)[0]?.slice(0, 200) ?? "";
}
