export type { WebAddress } from "./address.ts";
export { createWebHub, type WebConfig, type WebHub, type WebMessage, type WebUpdate } from "./hub.ts";
