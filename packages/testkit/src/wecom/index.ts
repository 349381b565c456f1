export { textMessage, type WecomMessageOptions, wecomEvent, wecomMessage } from "./callbacks.ts";
export { type CallbackSecrets, type SignatureOptions, sealCallback } from "./encryption.ts";
export type { WecomFault } from "./faults.ts";
export type { WecomSent } from "./messages.ts";
export { type FakeWecom, startWecom, type WecomAttachment, type WecomOptions } from "./server.ts";
export type { WecomFrame } from "./sockets.ts";
export type { WecomUpload } from "./uploads.ts";
