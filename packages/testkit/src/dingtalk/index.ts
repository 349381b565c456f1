export type { RepeatedCard } from "./cards.ts";
export {
  buttonClick,
  chatbotUserId,
  directId,
  directMessage,
  groupId,
  groupMention,
  inGroup,
  type MessageOptions,
  person,
  textMessage,
} from "./events.ts";
export type { CardButton, Destination, DingTalkMessage } from "./sent.ts";
export { type DingTalkFault, type DingTalkOptions, type FakeDingTalk, startDingTalk } from "./server.ts";
export { CARD_TOPIC, ROBOT_TOPIC, type Stream, type StreamOptions, type StreamPush } from "./stream.ts";
export type { Upload } from "./uploads.ts";
