import { type Conversation, objectAt, type Payload, type Sender, textAt } from "@signalbox/channel";
import { addressCodec, messageIdOf, type TelegramAddress } from "../address.ts";
import type { Bot } from "./text.ts";

/** Where something happened, and where an answer goes. */
export interface Where {
  readonly conversation: Conversation;
  readonly to: TelegramAddress;
  readonly address: string;
}

/** The place a message or a click is in; undefined without a chat. */
export function whereOf(message: Payload): Where | undefined {
  const chat = objectAt(message, "chat");
  const chatId = idAt(chat);
  if (chatId === undefined) return undefined;
  const topicId = topicOf(message);
  const subject = textAt(chat, "title");
  const to = { chatId, ...(topicId === undefined ? {} : { topicId }) };
  return {
    conversation: {
      id: chatId,
      kind: kindOf(chat),
      ...(topicId === undefined ? {} : { threadId: topicId }),
      ...(subject === undefined ? {} : { subject }),
    },
    to,
    address: addressCodec.encode(to),
  };
}

/** Answers in an ordinary group have a `message_thread_id`, too; a topic says so of itself. */
function topicOf(message: Payload): string | undefined {
  const id = message["message_thread_id"];
  return message["is_topic_message"] === true && Number.isInteger(id) && Number(id) > 0
    ? String(id)
    : undefined;
}

function kindOf(chat: Payload): Conversation["kind"] {
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
 * Who wrote a message. Whoever writes as a chat (an anonymous administrator, a channel) is that chat: the person
 * Telegram puts in its place is the same for everybody.
 */
export function senderOf(message: Payload, bot: Bot): Sender | undefined {
  const chat = objectAt(message, "sender_chat");
  const chatId = idAt(chat);
  if (chatId !== undefined) {
    const name = textAt(chat, "title") ?? textAt(chat, "username");
    return { id: chatId, ...(name === undefined ? {} : { name }), isBot: false, isSelf: false };
  }
  return personOf(objectAt(message, "from"), bot);
}

export function personOf(user: Payload, bot: Bot): Sender | undefined {
  const id = idAt(user);
  if (id === undefined) return undefined;
  const name = nameOf(user);
  return {
    id,
    ...(name === "" ? {} : { name }),
    isBot: user["is_bot"] === true,
    isSelf: id === bot.id,
  };
}

/** What a person calls themselves. */
export function nameOf(user: Payload): string {
  const names = [textAt(user, "first_name"), textAt(user, "last_name")];
  return names.filter((name) => name !== undefined).join(" ") || (textAt(user, "username") ?? "");
}

/** Telegram's numbers have up to 52 bits, and no zero among them. */
export function idAt(payload: Payload): string | undefined {
  const { id } = payload;
  return Number.isSafeInteger(id) && id !== 0 ? String(id) : undefined;
}

export function messageIdAt(message: Payload, { to }: Where): string | undefined {
  const { message_id: id } = message;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0
    ? messageIdOf(to.chatId, id)
    : undefined;
}
