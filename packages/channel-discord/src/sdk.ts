import { createRequire } from "node:module";
import { createMissingPackageError } from "@signalbox/channel";

const require = createRequire(import.meta.url);

/** Loads discord.js's REST client. */
export function loadRest(): typeof import("@discordjs/rest") {
  return load("@discordjs/rest");
}

/** Loads discord.js's gateway client. */
export function loadGateway(): typeof import("@discordjs/ws") {
  return load("@discordjs/ws");
}

function load(packageName: string) {
  try {
    return require(packageName);
  } catch (error) {
    throw createMissingPackageError(error, packageName) ?? error;
  }
}
