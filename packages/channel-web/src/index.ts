export type { WebAddress } from "./address.ts";
export {
  attachmentOf,
  type FetchUrl,
  MAX_ATTACHMENT_BYTES,
  type OpenUpload,
  type UploadedFile,
  uploadIn,
  uploadOf,
} from "./attachments.ts";
export { createWebHub, type WebConfig, type WebHub, type WebHubOptions, type WebMessage } from "./hub.ts";
export type { WebUpdate } from "./send.ts";
