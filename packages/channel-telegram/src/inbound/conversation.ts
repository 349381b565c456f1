import { type Conversation, objectAt, type Payload, type Sender, textAt } from "@signalbox/channel";
import { addressCodec, formatMessageId, type TelegramAddress } from "../address.ts";
import type { Bot } from "./text.ts";

/** Conversation of a message, and the address for replies. */
export interface Place {
  readonly conversation: Conversation;
  readonly to: TelegramAddress;
  readonly address: string;
}

/** Returns `undefined` if the payload has no chat. */
export function readPlace(message: Payload): Place | undefined {
  const chat = objectAt(message, "chat");
  const chatId = idAt(chat);
  if (chatId === undefined) return undefined;
  const topicId = topicOf(message);
  const subject = textAt(chat, "title");
  const to = { chatId, topicId };
  return {
    conversation: {
      id: chatId,
      kind: readKind(chat),
      threadId: topicId,
      subject,
    },
    to,
    address: addressCodec.encode(to),
  };
}

/** In ordinary groups, replies also have a `message_thread_id`. Only messages in topics set `is_topic_message`. */
function topicOf(message: Payload): string | undefined {
  const id = message["message_thread_id"];
  return message["is_topic_message"] === true && Number.isInteger(id) && Number(id) > 0
    ? String(id)
    : undefined;
}

function readKind(chat: Payload): Conversation["kind"] {
  switch (chat["type"]) {
    case "private":
      return "direct";
    case "channel":
      return "channel";
    default:
      return "group";
  }
}

/**
 * Reads the author of a message. If the author is an anonymous administrator or a channel, the sender is the chat,
 * because `from` then contains a placeholder user that is always the same.
 */
export function readSender(message: Payload, bot: Bot): Sender | undefined {
  const chat = objectAt(message, "sender_chat");
  const chatId = idAt(chat);
  if (chatId !== undefined) {
    const name = textAt(chat, "title") ?? textAt(chat, "username");
    return { id: chatId, name, isBot: false, isSelf: false };
  }
  return readUser(objectAt(message, "from"), bot);
}

export function readUser(user: Payload, bot: Bot): Sender | undefined {
  const id = idAt(user);
  if (id === undefined) return undefined;
  const name = getDisplayName(user);
  return {
    id,
    name: name === "" ? undefined : name,
    isBot: user["is_bot"] === true,
    isSelf: id === bot.id,
  };
}

/** Returns the display name of a user. */
export function getDisplayName(user: Payload): string {
  const names = [textAt(user, "first_name"), textAt(user, "last_name")];
  return names.filter((name) => name !== undefined).join(" ") || (textAt(user, "username") ?? "");
}

/** Telegram's ids have at most 52 bits and are never zero. */
export function idAt(payload: Payload): string | undefined {
  const { id } = payload;
  return Number.isSafeInteger(id) && id !== 0 ? String(id) : undefined;
}

export function messageIdAt(message: Payload, { to }: Place): string | undefined {
  const { message_id: id } = message;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0
    ? formatMessageId(to.chatId, id)
    : undefined;
}
