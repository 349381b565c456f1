import { type AddressCodec, ChannelError } from "@signalbox/channel";

/** Where an answer goes. */
export interface SlackAddress {
  /** A conversation (`C…`, `D…`, `G…`). */
  readonly channel: string;
  /** The timestamp of the message that began the thread to answer in. */
  readonly thread?: string;
}

const prefix = "slack:";

/** `slack:C…` or `slack:C…/1700000000.000100`. */
export const addressCodec: AddressCodec<SlackAddress> = {
  encode: ({ channel, thread }) =>
    prefix +
    [channel, ...(thread === undefined ? [] : [thread])]
      .map((part) => encodeURIComponent(part.toWellFormed()))
      .join("/"),
  decode(text) {
    const [channel, thread, ...more] = text.startsWith(prefix)
      ? text.slice(prefix.length).split("/").map(decodePart)
      : [];
    if (channel === undefined || channel === "" || thread === "" || more.length > 0) throw foreign(text);
    const address = thread === undefined ? { channel } : { channel, thread };
    if (addressCodec.encode(address) !== text) throw foreign(text);
    return address;
  },
};

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function foreign(text: string): ChannelError {
  return new ChannelError("invalid", `Not an address of Slack: ${JSON.stringify(text.slice(0, 80))}`);
}

/** A message. Slack's timestamps are unique within a conversation only. */
export interface MessageKey {
  readonly channel: string;
  readonly ts: string;
}

export function messageId({ channel, ts }: MessageKey): string {
  return `${channel}:${ts}`;
}

/**
 * The message of that id in the conversation of an address: what is asked for in one must not reach into another.
 *
 * @throws ChannelError `not_found`
 */
export function messageIn({ channel }: SlackAddress, id: string): MessageKey {
  const ts = id.startsWith(`${channel}:`) ? id.slice(channel.length + 1) : "";
  if (ts === "") throw new ChannelError("not_found", "Slack: there is no such message in this conversation");
  return { channel, ts };
}
