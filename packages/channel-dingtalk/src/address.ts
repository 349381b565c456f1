import { type AddressCodec, ChannelError, createAddressCodec } from "@signalbox/channel";

/** Destination of a message: a person, or a group. */
export type DingTalkAddress =
  | { readonly userId: string }
  /** The group's `openConversationId`. */
  | { readonly conversationId: string };

/** Writes addresses as `dingtalk:user/manager7`, or `dingtalk:group/cid…` for a group. */
export const addressCodec: AddressCodec<DingTalkAddress> = createAddressCodec("dingtalk", "DingTalk", {
  write: (address) => ("userId" in address ? ["user", address.userId] : ["group", address.conversationId]),
  read([kind, id, ...more]) {
    if (id === undefined || more.length > 0) return undefined;
    if (kind === "user") return { userId: id };
    return kind === "group" ? { conversationId: id } : undefined;
  },
});

/** The ids of a message from a person. */
export interface MessagePlace {
  readonly conversationId: string;
  readonly msgId: string;
}

/** Combines the ids that DingTalk needs to find a message again. */
export function formatMessageId({ conversationId, msgId }: MessagePlace): string {
  return `${conversationId}:${msgId}`;
}

/** @throws ChannelError `not_found` if the id does not belong to a message from a person */
export function parseMessageId(messageId: string): MessagePlace {
  const [conversationId = "", msgId = "", ...more] = messageId.split(":");
  if (conversationId !== "" && msgId !== "" && more.length === 0) return { conversationId, msgId };
  throw new ChannelError("not_found", "DingTalk: no such message in this conversation");
}
