export type { WhatsAppMedia } from "./media.ts";
export type { WhatsAppMessage } from "./messages.ts";
export {
  businessNumber,
  buttonReply,
  changePayload,
  defaultPhoneNumberId,
  messageEcho,
  messagePayload,
  type PayloadOptions,
  person,
  type StatusOptions,
  statusPayload,
  textMessage,
} from "./payloads.ts";
export type { GraphErrorCode } from "./reply.ts";
export { type FakeWhatsApp, startWhatsApp, type WhatsAppFault, type WhatsAppOptions } from "./server.ts";
export { type SignedRequest, signed } from "./webhooks.ts";
