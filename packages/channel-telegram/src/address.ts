import { type AddressCodec, ChannelError, createAddressCodec } from "@signalbox/channel";

/** Destination of a message. */
export interface TelegramAddress {
  /** Numeric chat id as text. Groups and channels have negative ids. */
  readonly chatId: string;
  /** Id of the forum topic. */
  readonly topicId?: string;
}

/** Writes addresses as `telegram:123`, or `telegram:-100123/45` for a topic. */
export const addressCodec: AddressCodec<TelegramAddress> = createAddressCodec("telegram", "Telegram", {
  write: ({ chatId, topicId }) => [chatId, topicId],
  read([chatId, topicId]) {
    if (!/^-?[1-9]\d{0,18}$/.test(chatId)) return undefined;
    if (topicId === undefined) return { chatId };
    return /^[1-9]\d{0,18}$/.test(topicId) ? { chatId, topicId } : undefined;
  },
});

/**
 * Builds a message id that is unique within the account. Telegram's own ids are unique only within a chat.
 */
export function formatMessageId(chatId: string | number, messageId: number): string {
  return `${chatId}:${messageId}`;
}

/**
 * Returns Telegram's id of a message in the given chat.
 *
 * @throws ChannelError `not_found` if the id belongs to another chat or is malformed
 */
export function parseMessageId({ chatId }: TelegramAddress, messageId: string): number {
  const [chat, number, ...more] = messageId.split(":");
  if (chat === chatId && more.length === 0 && /^[1-9]\d{0,15}$/.test(number ?? "")) return Number(number);
  throw new ChannelError("not_found", "Telegram: no such message in this conversation");
}

/**
 * Returns true if a chat id belongs to a private chat. Users have positive ids, groups and channels have negative ones.
 */
export function isPrivateChat(chatId: string): boolean {
  return !chatId.startsWith("-");
}
