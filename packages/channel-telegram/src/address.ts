import { type AddressCodec, ChannelError, createAddressCodec } from "@signalbox/channel";

/** Where an answer goes. */
export interface TelegramAddress {
  /** The chat's number as text; negative for groups and channels. */
  readonly chatId: string;
  /** The topic of a forum. */
  readonly topicId?: string;
}

/** `telegram:123`, or `telegram:-100123/45` for a topic. */
export const addressCodec: AddressCodec<TelegramAddress> = createAddressCodec("telegram", "Telegram", {
  write: ({ chatId, topicId }) => [chatId, topicId],
  read([chatId, topicId]) {
    if (!/^-?[1-9]\d{0,18}$/.test(chatId)) return undefined;
    if (topicId === undefined) return { chatId };
    return /^[1-9]\d{0,18}$/.test(topicId) ? { chatId, topicId } : undefined;
  },
});

/** Telegram numbers messages in each chat; ours are unique within the account. */
export function messageIdOf(chatId: string | number, messageId: number): string {
  return `${chatId}:${messageId}`;
}

/**
 * The number of a message in the chat it is said to be in.
 *
 * @throws ChannelError `not_found` for a message of another chat, and for what is no message id of this channel
 */
export function messageIn({ chatId }: TelegramAddress, messageId: string): number {
  const [chat, number, ...more] = messageId.split(":");
  if (chat === chatId && more.length === 0 && /^[1-9]\d{0,15}$/.test(number ?? "")) return Number(number);
  throw new ChannelError("not_found", "Telegram: there is no such message in this conversation");
}

/** People have positive numbers, groups and channels negative ones. */
export function isPrivate(chatId: string): boolean {
  return !chatId.startsWith("-");
}
