export type { WecomAddress } from "./address.ts";
export type { WecomConfig } from "./config.ts";
export { wecom } from "./wecom.ts";
