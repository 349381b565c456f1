export type { TelegramMessage } from "./messages.ts";
export type { UploadedFile } from "./parameters.ts";
export { type FakeTelegram, startTelegram, type TelegramFault, type TelegramOptions } from "./server.ts";
export {
  click,
  commandMessage,
  groupMention,
  groupMigration,
  messageObject,
  person,
  type TelegramMessageOptions,
  type TelegramUpdate,
  type TelegramUser,
  textMessage,
  update,
  userObject,
} from "./updates.ts";
