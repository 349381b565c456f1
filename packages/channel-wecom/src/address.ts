import { type AddressCodec, ChannelError, createAddressCodec } from "@signalbox/channel";

/** Destination of a message: a person or a group. */
export interface WecomAddress {
  readonly type: "single" | "group";
  /** The user id of the person or the chat id of the group. */
  readonly id: string;
}

/** Writes addresses as `wecom:single/USERID` or `wecom:group/CHATID`. */
export const addressCodec: AddressCodec<WecomAddress> = createAddressCodec("wecom", "WeCom", {
  write: ({ type, id }) => [type, id],
  read([type, id, ...more]) {
    if ((type !== "single" && type !== "group") || id === undefined || more.length > 0) return undefined;
    return { type, id };
  },
});

/** A message from a person that can be answered. */
export interface ReceivedMessage {
  readonly msgid: string;
  /** Identifies the message in replies over the long connection. Absent with the webhook transport. */
  readonly reqId?: string | undefined;
  /** The time at which it was sent, in milliseconds since the epoch, rounded down to seconds. */
  readonly sentAt: number;
}

/**
 * Builds the id of a received message. It contains everything that a reply needs, so replies work after a restart
 * without stored state.
 */
export function formatMessageId({ msgid, reqId = "", sentAt }: ReceivedMessage): string {
  const parts = [msgid, reqId].map((part) => encodeURIComponent(part.toWellFormed()));
  return [...parts, Math.floor(sentAt / 1_000).toString(36)].join(":");
}

/**
 * Parses the id of a received message.
 *
 * @throws ChannelError `not_found` if it is not one
 */
export function parseMessageId(id: string): ReceivedMessage {
  const [msgid = "", reqId = "", seconds = "", ...more] = id.split(":");
  const sentAt = /^[0-9a-z]{1,8}$/.test(seconds) ? Number.parseInt(seconds, 36) * 1_000 : Number.NaN;
  try {
    if (more.length === 0 && msgid !== "" && !Number.isNaN(sentAt))
      return {
        msgid: decodeURIComponent(msgid),
        reqId: decodeURIComponent(reqId) || undefined,
        sentAt,
      };
  } catch {
    // The percent-encoding is invalid.
  }
  throw new ChannelError("not_found", "WeCom: this message cannot be replied to");
}
