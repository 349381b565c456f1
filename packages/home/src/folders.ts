import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "./errors.ts";
import type { Home } from "./layout.ts";

/** Creates an agent's workspace under the home if it is missing. @throws GatewayError naming the folder */
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
 * Creates the home if it is missing, readable by its owner only.
 *
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
 * Creates a folder with its parents. Does not use the option `recursive`, which loops forever on file systems such as
 * /proc that create no folders and report the parent as missing.
 */
function makeFolder(dir: string): void {
  if (existsSync(dir)) return;
  makeFolder(dirname(dir));
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it.
    if (!existsSync(dir)) throw error;
  }
}

/** Returns the reason why a folder cannot be used or created, if any. Creates nothing. */
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
