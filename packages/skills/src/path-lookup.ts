import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

/** How long an answer is taken as still true, in milliseconds. */
const MAX_AGE_MS = 60_000;
/** Answers kept at most: skills of a workspace could ask for any number of programs. */
const MAX_ANSWERS = 10_000;

/** Looks for programs along `PATH`, and remembers what it found for a minute. */
export function createPathLookup(
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
  now: () => number,
): (bin: string) => boolean {
  const windows = platform === "win32";
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(windows ? ";" : ":").filter((dir) => dir !== "");
  const endings = windows ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";")] : [""];
  const answers = new Map<string, boolean>();
  let startedAt = now();

  return (bin) => {
    // A name with a path in it would reach beyond PATH.
    if (bin === "" || /[/\\\0]/.test(bin)) return false;
    if (Math.abs(now() - startedAt) >= MAX_AGE_MS || answers.size >= MAX_ANSWERS) {
      answers.clear();
      startedAt = now();
    }
    const answer =
      answers.get(bin) ?? folders.some((dir) => endings.some((ending) => isProgram(join(dir, bin + ending))));
    answers.set(bin, answer);
    return answer;
  };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
