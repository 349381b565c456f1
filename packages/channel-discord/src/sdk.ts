import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** discord.js's client of the API, loaded at the first call. */
export function loadRest(): typeof import("@discordjs/rest") {
  return require("@discordjs/rest");
}

/** discord.js's client of the gateway, loaded at the first connection. */
export function loadGateway(): typeof import("@discordjs/ws") {
  return require("@discordjs/ws");
}
