import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "./types.ts";

/** Of a window that most programs are content with. */
const SIZE = "rows 40 cols 120";

/** Shell text that gives a command a terminal of its own, by `script` of util-linux, and ends with its exit code. */
export function inTerminal(command: string, shell: string): string {
  const inside = `stty ${SIZE}; ${command}`;
  return `SHELL=${quoted(shell)} TERM=xterm-256color exec script -qefc ${quoted(inside)} /dev/null`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether commands get one: not every system has such a program, nor one that does as it is told here. */
export async function givesTerminal(sandbox: Sandbox): Promise<boolean> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "signalbox-terminal-")));
  try {
    const { exitCode } = await sandbox.run({
      script: "test -t 0 && test -t 1",
      terminal: true,
      folders: { dir, readOnlyDirs: [], forbidden: [] },
      cwd: dir,
      protect: { files: [], folders: [] },
      covers: [],
      signal: AbortSignal.timeout(10_000),
    });
    return exitCode === 0;
  } catch {
    return false;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
