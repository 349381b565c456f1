import type { Raw } from "../raw.ts";

/** A person in updates. */
export interface TelegramUser {
  readonly id: number;
  readonly firstName?: string;
  readonly username?: string;
  readonly isBot?: boolean;
}

export interface TelegramMessageOptions {
  readonly updateId?: number;
  readonly messageId?: number;
  /** Default: the private chat with the sender. */
  readonly chat?: {
    readonly id: number;
    readonly type: "group" | "supergroup" | "channel";
    readonly title?: string;
  };
  readonly from?: TelegramUser;
  /** The topic of a forum. */
  readonly topicId?: number;
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number;
  /** Further fields of the message. */
  readonly fields?: Raw;
}

let count = 0;

export const person: TelegramUser = { id: 5_001, firstName: "张三" };

export function userObject({ id, firstName = "Somebody", username, isBot = false }: TelegramUser): Raw {
  return { id, is_bot: isBot, first_name: firstName, username };
}

export type TelegramUpdate = Raw & { readonly update_id: number };

/** Returns an update with one field and an increasing number. */
export function update(type: string, content: Raw, updateId?: number): TelegramUpdate {
  count += 1;
  return { update_id: updateId ?? 700_000 + count, [type]: content };
}

/** Returns a message in the format of updates. */
export function messageObject(text: string | undefined, options: TelegramMessageOptions = {}): Raw {
  const from = options.from ?? person;
  count += 1;
  const chat =
    options.chat === undefined
      ? { id: from.id, type: "private", first_name: from.firstName ?? "Somebody" }
      : { title: "A group", ...options.chat };
  return {
    message_id: options.messageId ?? 10_000 + count,
    date: Math.floor((options.at ?? Date.now()) / 1_000),
    chat,
    from: userObject(from),
    text,
    ...(options.topicId === undefined ? {} : { message_thread_id: options.topicId, is_topic_message: true }),
    ...options.fields,
  };
}

export function textMessage(text: string, options: TelegramMessageOptions = {}): TelegramUpdate {
  return update("message", messageObject(text, options), options.updateId);
}

/** Returns the message `@bot text` in a group. */
export function groupMention(
  text: string,
  username: string,
  options: TelegramMessageOptions = {},
): TelegramUpdate {
  const mention = `@${username}`;
  return textMessage(`${mention} ${text}`, {
    chat: { id: -1_001_234, type: "supergroup" },
    ...options,
    fields: { entities: [{ type: "mention", offset: 0, length: mention.length }], ...options.fields },
  });
}

/** Returns the two service messages for a group that becomes a supergroup, in Telegram's order. */
export function groupMigration(groupId: number, supergroupId: number): readonly TelegramUpdate[] {
  const group = { id: groupId, type: "group" } as const;
  const supergroup = { id: supergroupId, type: "supergroup" } as const;
  return [
    update(
      "message",
      messageObject(undefined, { chat: group, fields: { migrate_to_chat_id: supergroupId } }),
    ),
    update(
      "message",
      messageObject(undefined, { chat: supergroup, fields: { migrate_from_chat_id: groupId } }),
    ),
  ];
}

/** Returns the message `/name arguments`. */
export function commandMessage(command: string, options: TelegramMessageOptions = {}): TelegramUpdate {
  const length = command.split(/\s/, 1)[0]?.length ?? command.length;
  return textMessage(command, {
    ...options,
    fields: { entities: [{ type: "bot_command", offset: 0, length }], ...options.fields },
  });
}

/** Returns a click on a button of a message from the bot. */
export function click(
  data: string,
  message: { readonly chatId: string; readonly messageId: number },
  options: { readonly from?: TelegramUser; readonly queryId?: string; readonly updateId?: number } = {},
): TelegramUpdate {
  const chatId = Number(message.chatId);
  count += 1;
  return update(
    "callback_query",
    {
      id: options.queryId ?? `query-${count}`,
      from: userObject(options.from ?? person),
      chat_instance: "1",
      data,
      message: {
        message_id: message.messageId,
        date: Math.floor(Date.now() / 1_000),
        chat: { id: chatId, type: chatId < 0 ? "supergroup" : "private" },
      },
    },
    options.updateId,
  );
}
