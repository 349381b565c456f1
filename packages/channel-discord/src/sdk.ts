import { createRequire } from "node:module";
import { missingPackage } from "@signalbox/channel";

const require = createRequire(import.meta.url);

/** discord.js's client of the API, loaded at the first call. */
export function loadRest(): typeof import("@discordjs/rest") {
  return load("@discordjs/rest");
}

/** discord.js's client of the gateway, loaded at the first connection. */
export function loadGateway(): typeof import("@discordjs/ws") {
  return load("@discordjs/ws");
}

function load(packageName: string) {
  try {
    return require(packageName);
  } catch (error) {
    throw missingPackage(error, packageName) ?? error;
  }
}
