import { readdirSync, readFileSync } from "node:fs";

/** `O_CLOEXEC` of Linux, as `/proc/self/fdinfo` writes it. */
const CLOSED_ON_EXEC = 0o2000000;
const STANDARD = new Set(["0", "1", "2"]);

/**
 * Descriptors that whoever started this process has left open, and that programs it starts would get too: a command
 * could read the file behind one however well it is kept from the path. Node.js closes the first sixteen of them.
 */
export function inheritedDescriptors(): readonly string[] {
  return readdirSync("/proc/self/fdinfo").filter((name) => !STANDARD.has(name) && outlivesExec(name));
}

function outlivesExec(descriptor: string): boolean {
  try {
    const [, flags] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // The one that the folder itself was read by.
    return false;
  }
}

/** A program that begins without some descriptors. @param shell absolute path of one that closes them */
export function without(
  descriptors: readonly string[],
  shell: string,
  program: { readonly file: string; readonly args: readonly string[] },
): { readonly file: string; readonly args: readonly string[] } {
  if (descriptors.length === 0) return program;
  const closing = `exec ${descriptors.map((each) => `${each}>&-`).join(" ")}; exec "$@"`;
  return { file: shell, args: ["-c", closing, shell, program.file, ...program.args] };
}
