export type { SlackAddress } from "./address.ts";
export type { SlackConfig } from "./config.ts";
export { slack } from "./slack.ts";
