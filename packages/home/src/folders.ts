import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "./errors.ts";
import type { Home } from "./layout.ts";

/** Makes an agent's workspace under the home where it is missing. @throws GatewayError naming the folder */
export function prepareWorkspace(dir: string): void {
  try {
    makeFolder(dir);
  } catch (error) {
    throw new GatewayError(
      "cannot_write",
      `The workspace ${dir} cannot be created: ${reasonOf(error)}. Make it writable for this user.`,
    );
  }
}

/**
 * Makes the home where it is missing, readable by its owner only.
 * @throws GatewayError naming the folder
 */
export function prepareHome(home: Home): void {
  try {
    makeFolder(home.dir);
    accessSync(home.dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new GatewayError(
      "cannot_write",
      `The home ${home.dir} cannot be used: ${reasonOf(error)}. Make it writable for this user or choose another with --home or SIGNALBOX_HOME.`,
    );
  }
}

/**
 * With those on the way. Not by `recursive`, which goes round for ever where a file system makes no folders and says
 * that the one on the way is missing, as /proc does.
 */
function makeFolder(dir: string): void {
  if (existsSync(dir)) return;
  makeFolder(dirname(dir));
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Somebody else may have been faster.
    if (!existsSync(dir)) throw error;
  }
}

/** What is in the way of using a folder, or of making it where it is missing. Nothing is made. */
export function folderFault(dir: string): string | undefined {
  try {
    const stats = statSync(dir, { throwIfNoEntry: false });
    if (stats === undefined) return dirname(dir) === dir ? "does not exist" : folderFault(dirname(dir));
    if (!stats.isDirectory()) return `cannot be used: ${dir} is not a folder`;
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `cannot be used: ${reasonOf(error)}`;
  }
}
