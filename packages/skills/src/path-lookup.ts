import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

/** Cache lifetime of results, in milliseconds. */
const MAX_AGE_MS = 60_000;
/** Maximum number of cached lookups, because a workspace's skills could require any number of programs. */
const MAX_CACHED = 10_000;

/** Creates a function that returns whether a program is in the `PATH`. Results are cached for a minute. */
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
    // A path would reach outside of PATH.
    if (bin === "" || /[/\\\0]/.test(bin)) return false;
    if (Math.abs(now() - startedAt) >= MAX_AGE_MS || answers.size >= MAX_CACHED) {
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
