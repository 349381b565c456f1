import { readdirSync, readFileSync } from "node:fs";

/** Linux's `O_CLOEXEC`, as shown in `/proc/self/fdinfo`. */
const CLOSED_ON_EXEC = 0o2000000;
const STANDARD = new Set(["0", "1", "2"]);

/**
 * Returns the descriptors that this process inherited and that its child processes would also inherit. A command could
 * read the file behind such a descriptor even if its path is hidden. Node.js closes only the first sixteen of them.
 */
export function listInheritedDescriptors(): readonly string[] {
  return readdirSync("/proc/self/fdinfo").filter((name) => !STANDARD.has(name) && outlivesExec(name));
}

function outlivesExec(descriptor: string): boolean {
  try {
    const [, flags] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // This descriptor was used to read the folder itself.
    return false;
  }
}

/**
 * Wraps a program so that the given descriptors are closed before it starts.
 *
 * @param shell absolute path of the shell that closes them
 */
export function withoutDescriptors(
  descriptors: readonly string[],
  shell: string,
  program: { readonly file: string; readonly args: readonly string[] },
): { readonly file: string; readonly args: readonly string[] } {
  if (descriptors.length === 0) return program;
  const closing = `exec ${descriptors.map((each) => `${each}>&-`).join(" ")}; exec "$@"`;
  return { file: shell, args: ["-c", closing, shell, program.file, ...program.args] };
}
