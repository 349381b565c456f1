export type { SeenCard } from "./cards.ts";
export {
  cardAction,
  type EventOptions,
  type FeishuEvent,
  fileMessage,
  groupMention,
  imageMessage,
  memberAdded,
  messageEvent,
  postMessage,
  reaction,
  recalled,
  replyMessage,
  type TextOptions,
  textMessage,
  threadMessage,
} from "./events.ts";
export type { FeishuFault } from "./faults.ts";
export type { SentMessage } from "./messages.ts";
export { encrypt, type Push, type PushOptions, push, sign } from "./push.ts";
export { type FakeFeishu, type FeishuOptions, startFeishu } from "./server.ts";
export type { Upload } from "./uploads.ts";
