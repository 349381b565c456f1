import { randomBytes } from "node:crypto";
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { createSeccompFilter } from "./seccomp.ts";
import type { Sandbox, SandboxOutcome } from "./types.ts";

const CANARY_PREFIX = ".signalbox-canary-";
const STALE_MS = 600_000;
/** Time limit for the self-test, in milliseconds. It takes far less, even on a busy machine. */
const TIMEOUT_MS = 30_000;

/**
 * Runs one command that tries to read and write outside its workspace. Returns the problem, or undefined if the test
 * passed. The gateway's user must be able to write to at least one of the folders. The others are skipped.
 *
 * @param canaryDirs folders in which files are planted that the command must not be able to reach
 * @param descriptors descriptors in this process that the command must not have
 */
export async function runSelfTest(
  sandbox: Sandbox,
  canaryDirs: readonly string[],
  descriptors: readonly string[] = [],
): Promise<string | undefined> {
  const folders = await createFolders(canaryDirs);
  try {
    return await attack(sandbox, folders, descriptors);
  } catch (error) {
    return `the sandbox does not start here: ${reasonOf(error)} Unprivileged user namespaces may be turned off.`;
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

async function attack(
  sandbox: Sandbox,
  folders: readonly string[],
  descriptors: readonly string[],
): Promise<string | undefined> {
  const secret = randomBytes(16).toString("hex");
  const planted: string[] = [];
  for (const folder of folders) {
    await writeFile(join(folder, "canary"), secret, { mode: 0o644 });
    planted.push(await realpath(folder));
  }
  const [first] = planted;
  if (first === undefined) return "the self-test found no writable folder.";
  const dir = join(first, "workspace");
  await mkdir(dir);
  const outcome = await sandbox.run({
    script: createScript(planted, descriptors),
    folders: { dir, readOnlyDirs: [], forbidden: [] },
    cwd: dir,
    protect: { files: [], folders: [] },
    covers: [],
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (outcome.output.includes(secret)) return "the self-test could read a file outside the workspace.";
  for (const folder of planted) {
    if (
      (await readIfExists(join(folder, "canary"))) !== secret ||
      (await readIfExists(join(folder, "planted"))) !== undefined
    )
      return "the self-test could write outside the workspace.";
  }
  const problem = findProblem(outcome);
  if (problem !== undefined) return problem;
  const proof = await readIfExists(join(dir, "proof"));
  return proof === "fine\n" ? undefined : "the self-test could not write in its workspace.";
}

/** Returns a script that tries forbidden operations and prints facts about its environment. */
function createScript(planted: readonly string[], descriptors: readonly string[]): string {
  return [
    ...planted.flatMap((folder) => [
      `cat '${folder}/canary'`,
      `cat '/proc/${process.pid}/root${folder}/canary'`,
      `echo spoiled > '${folder}/canary'`,
      `echo spoiled > '${folder}/planted'`,
    ]),
    'touch special; chmod u+s special 2>/dev/null && echo "special=left"',
    ...descriptors.map((each) => `[ -e /proc/self/fd/${each} ] && echo "descriptor=left"`),
    'echo "uid=$(id -u)"',
    'echo "links=$(grep -c : /proc/net/dev)"',
    // In a new process namespace, the first process is the launcher.
    'echo "first=$(cat /proc/1/comm)"',
    "echo fine > proof",
  ].join("\n");
}

/** Returns the problem that the script's output reveals, if any. */
function findProblem({ output, stopped }: SandboxOutcome): string | undefined {
  if (stopped !== undefined) return `the self-test was stopped: ${STOP_REASONS[stopped]}.`;
  if (!/^uid=[1-9]\d*$/m.test(output))
    return `the self-test did not run as an ordinary user. ${output.split("\n", 1)[0]?.slice(0, 200) ?? ""}`;
  if (createSeccompFilter(process.arch) !== undefined && output.includes("special=left"))
    return "the self-test could leave a file with the set-user-id bit.";
  if (output.includes("descriptor=left"))
    return "the self-test inherited an open file from the process that started the gateway.";
  if (!output.includes("links=1\n")) return "the self-test found a network.";
  if (!output.includes("first=bwrap\n")) return "the self-test saw processes outside.";
  return undefined;
}

const STOP_REASONS: Readonly<Record<NonNullable<SandboxOutcome["stopped"]>, string>> = {
  abort: `it took longer than ${TIMEOUT_MS / 1_000} s`,
  timeout: "it took longer than a command may",
  disk: "the disk is full",
  memory: "it took more memory than a command may",
  processes: "it had more processes than a command may",
  output: "it wrote more than a command may",
};

/** Creates a folder in each writable folder. */
async function createFolders(dirs: readonly string[]): Promise<string[]> {
  const folders: string[] = [];
  for (const dir of dirs) {
    await removeStale(dir);
    const folder = await mkdtemp(join(dir, CANARY_PREFIX)).catch(() => undefined);
    if (folder !== undefined) folders.push(folder);
  }
  return folders;
}

/** Removes the folders of earlier self-tests that were killed. */
async function removeStale(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name);
    if (!name.startsWith(CANARY_PREFIX)) continue;
    const made = (await lstat(path).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - made > STALE_MS) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

async function readIfExists(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}
