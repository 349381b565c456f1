import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

const MEMORY_MS = 60_000;

/** Looks for programs along `PATH`, and remembers what it found for a minute. */
export function createWhich(
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
  now: () => number,
): (bin: string) => boolean {
  const windows = platform === "win32";
  const remembered = new Map<string, { found: boolean; at: number }>();
  return (bin) => {
    // A name with a path in it would reach beyond PATH.
    if (bin === "" || /[/\\\0]/.test(bin)) return false;
    const known = remembered.get(bin);
    if (known !== undefined && now() - known.at < MEMORY_MS) return known.found;
    const folders = (env["PATH"] ?? env["Path"] ?? "").split(windows ? ";" : ":").filter((dir) => dir !== "");
    const endings = windows ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";")] : [""];
    const found = folders.some((dir) => endings.some((ending) => isProgram(join(dir, bin + ending))));
    remembered.set(bin, { found, at: now() });
    return found;
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
