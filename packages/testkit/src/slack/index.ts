export {
  appMention,
  buttonClick,
  changed,
  channelMention,
  deleted,
  type EventOptions,
  eventCallback,
  formSubmission,
  type MessageOptions,
  menuChoice,
  reaction,
  type SlackDelivery,
  slashCommand,
  textMessage,
} from "./events.ts";
export type { SlackFault } from "./faults.ts";
export type { SlackFile } from "./files.ts";
export type { PlantedMessage, SlackMessage } from "./messages.ts";
export { type Push, type PushOptions, push, sign, signed } from "./push.ts";
export { type FakeSlack, type SlackOptions, startSlack } from "./server.ts";
export type { SocketPush } from "./sockets.ts";
export type { SlackView } from "./views.ts";
