export type { DingTalkAddress } from "./address.ts";
export type { DingTalkConfig } from "./config.ts";
export { dingtalk } from "./dingtalk.ts";
