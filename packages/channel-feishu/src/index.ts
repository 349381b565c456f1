export type { FeishuAddress } from "./address.ts";
export type { FeishuConfig } from "./config.ts";
export { feishu } from "./feishu.ts";
