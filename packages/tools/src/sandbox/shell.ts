import type { SandboxLimits } from "./types.ts";

/**
 * On many systems this is dash, which starts in a third of the time that bash takes. It sets limits and then runs the
 * command's shell.
 */
const LAUNCHER = "/bin/sh";
/** Environment variable that contains the command. The launcher removes it before running the command. */
const VARIABLE = "SIGNALBOX_COMMAND";

/**
 * Returns a shell that sets kernel limits and then becomes the shell that runs the command from {@link
 * commandVariable}. It redirects error output to standard output, so that standard error contains only messages from
 * the launcher.
 */
export function createLimitedShell(
  shell: string,
  limits: SandboxLimits,
  countProcesses: boolean,
): { readonly file: string; readonly args: readonly string[] } {
  const kilobytes = Math.floor(limits.memoryBytes / 1024);
  // Shells use different letters for the process limit. The data size is limited instead of the address space, because
  // language runtimes reserve far more address space than they use.
  const setup = [
    "ulimit -c 0",
    // In blocks of 1,024 bytes; some shells use blocks of 512 bytes.
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

/** Returns the environment variable that passes the command to a shell created by {@link createLimitedShell}. */
export function getCommandVariable(script: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: script };
}
