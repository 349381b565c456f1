export type { DiscordAddress } from "./address.ts";
export type { DiscordConfig } from "./config.ts";
export { discord } from "./discord.ts";
