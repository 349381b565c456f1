export type { WebAddress } from "./address.ts";
export { attachmentOf, type FetchUrl } from "./attachments.ts";
export { createWebHub, type WebConfig, type WebHub, type WebHubOptions, type WebMessage } from "./hub.ts";
export type { WebUpdate } from "./send.ts";
