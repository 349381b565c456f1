export type { IMessageAddress } from "./address.ts";
export type { IMessageConfig } from "./config.ts";
export { imessage } from "./imessage.ts";
