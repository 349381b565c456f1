import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openWorkspace, startSandbox, type Workspace } from "../src/index.ts";

/** The sandbox of this machine, and none. */
export const sandboxed = await startSandbox({ limits: { timeoutMs: 20_000 } });
if (sandboxed.level !== "bubblewrap")
  console.log(`skipped: commands in the sandbox, since ${sandboxed.reason}`);
export const bare = await startSandbox({ setting: "none", limits: { timeoutMs: 20_000 } });

/** Without a sandbox commands are an owner's alone. */
export const OWNER = { role: "owner" } as const;

/** A folder to run commands in, gone when its test ends. */
export async function openFolder(): Promise<{ dir: string; workspace: Workspace }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "exec-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return { dir, workspace: await openWorkspace({ dir }) };
}

/** Whether a process runs that has this in its command line. */
export function alive(mark: string): boolean {
  try {
    return execFileSync("pgrep", ["-f", mark], { encoding: "utf8" }).trim() !== "";
  } catch {
    return false;
  }
}
