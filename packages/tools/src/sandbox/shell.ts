import type { SandboxLimits } from "./types.ts";

/** A small one where there is one (dash starts in a third of the time of bash): it sets limits and is gone. */
const LAUNCHER = "/bin/sh";
/** Where the launcher finds the command; the command itself does not have it. */
const VARIABLE = "SIGNALBOX_COMMAND";

/**
 * A program with its arguments: a shell that sets the kernel's limits and then becomes the shell of the command that
 * {@link commandVariable} holds. Error output joins the output here, so that what is left on standard error comes from
 * whoever started the shell.
 */
export function limitedShell(
  shell: string,
  limits: SandboxLimits,
  countProcesses: boolean,
): { readonly file: string; readonly args: readonly string[] } {
  const kilobytes = Math.floor(limits.memoryBytes / 1024);
  // Shells differ in the letter of the process limit. Data, not address space: runtimes reserve far more than they use.
  const setup = [
    "ulimit -c 0",
    // In blocks of 1,024 bytes, or of 512 in some shells.
    `ulimit -f ${Math.floor(limits.diskBytes / 1024)}`,
    `ulimit -d ${kilobytes}`,
    ...(countProcesses
      ? [`ulimit -u ${limits.processes} 2>/dev/null || ulimit -p ${limits.processes} 2>/dev/null || :`]
      : []),
    `command=$${VARIABLE}; unset ${VARIABLE}`,
    'exec 2>&1; exec "$0" -c "$command"',
  ].join("; ");
  return { file: LAUNCHER, args: ["-c", setup, shell] };
}

/** The variable through which a shell of {@link limitedShell} is told its command: it may have been started before. */
export function commandVariable(script: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: script };
}
