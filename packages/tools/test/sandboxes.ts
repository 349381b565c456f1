import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openWorkspace, startSandbox, type Workspace } from "../src/index.ts";

/** The sandbox of this machine. */
export const sandboxed = await startSandbox({ limits: { timeoutMs: 60_000 } });
if (sandboxed.level !== "bubblewrap")
  console.log(`skipped: commands in the sandbox, since ${sandboxed.reason}`);
export const bare = await startSandbox({ setting: "none", limits: { timeoutMs: 60_000 } });

/** Without a sandbox, only owners can run commands without approval. */
export const OWNER = { role: "owner" } as const;

/** Creates a temporary folder for commands. */
export async function openFolder(): Promise<{ dir: string; workspace: Workspace }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "exec-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return { dir, workspace: await openWorkspace({ dir }) };
}

/** Returns true if a process with this text in its command line is running. */
export function alive(mark: string): boolean {
  try {
    return execFileSync("pgrep", ["-f", mark], { encoding: "utf8" }).trim() !== "";
  } catch {
    return false;
  }
}
