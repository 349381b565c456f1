import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "./types.ts";

/** A window size that suits most programs. */
const SIZE = "rows 40 cols 120";

/**
 * Returns a script that runs a command in a terminal, using `script` from util-linux, and exits with the command's exit
 * code.
 */
export function wrapInTerminal(command: string, shell: string): string {
  const inside = `stty ${SIZE}; ${command}`;
  return `SHELL=${quote(shell)} TERM=xterm-256color exec script -qefc ${quote(inside)} /dev/null`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns true if commands can run in a terminal. `script` may be missing, or may not support the options. */
export async function supportsTerminal(sandbox: Sandbox): Promise<boolean> {
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
