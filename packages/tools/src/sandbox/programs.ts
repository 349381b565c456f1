import { access, constants, realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** Returns the path of the shell that runs commands, with links resolved. */
export async function findShell(): Promise<string> {
  for (const path of ["/bin/bash", "/usr/bin/bash", "/bin/sh"]) {
    if (await isProgram(path)) return await realpath(path);
  }
  throw new Error("there is no shell (/bin/bash or /bin/sh).");
}

/** Returns the first program with this name on a search path. */
export async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter)) {
    if (isAbsolute(folder) && (await isProgram(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
