export { buttonsOf, optionsOf, wordsIn } from "./components.ts";
export type { DiscordFault } from "./faults.ts";
export type { Doing, Interaction } from "./interactions.ts";
export type { Attachment, DiscordMessage, MessageToPlant } from "./messages.ts";
export { type DiscordOptions, type FakeDiscord, startDiscord } from "./server.ts";
export { snowflakeAt } from "./snowflake.ts";
export { channelType, type DiscordChannel, type DiscordRole, type DiscordUser } from "./world.ts";
