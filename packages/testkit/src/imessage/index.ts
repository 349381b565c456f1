export {
  type BlueBubblesFault,
  type BlueBubblesOptions,
  type FakeBlueBubbles,
  startBlueBubbles,
} from "./bluebubbles.ts";
export {
  type ChatMessage,
  FakeMessages,
  type FakeMessagesOptions,
  type MessageOptions,
  type StoredAttachment,
} from "./database.ts";
export { type FakeImsg, type ImsgFault, type ImsgOptions, startImsg } from "./imsg.ts";
