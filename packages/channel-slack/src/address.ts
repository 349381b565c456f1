import { type AddressCodec, ChannelError, createAddressCodec } from "@signalbox/channel";

/** Destination of a message. */
export interface SlackAddress {
  /** Conversation id (`C…`, `D…`, `G…`). */
  readonly channel: string;
  /** Timestamp of the message that started the thread. */
  readonly thread?: string;
  /** The slash command to respond to. Commands are never in a thread. */
  readonly command?: string;
}

const ofCommand = "command-";

/** Writes addresses as `slack:C…`, `slack:C…/1700000000.000100` or `slack:C…/command-…`. */
export const addressCodec: AddressCodec<SlackAddress> = createAddressCodec("slack", "Slack", {
  write: ({ channel, thread, command }) => [
    channel,
    command === undefined ? thread : `${ofCommand}${command}`,
  ],
  read([channel, second]) {
    if (second === undefined) return { channel };
    if (!second.startsWith(ofCommand)) return { channel, thread: second };
    return { channel, command: second.slice(ofCommand.length) };
  },
});

/** Identifies a message. Slack's timestamps are unique only within a conversation. */
export interface MessageKey {
  readonly channel: string;
  readonly ts: string;
}

export function messageId({ channel, ts }: MessageKey): string {
  return `${channel}:${ts}`;
}

/**
 * Returns Slack's key of a message in the conversation of an address.
 *
 * @throws ChannelError `not_found` if the message belongs to another conversation
 */
export function parseMessageId({ channel }: SlackAddress, id: string): MessageKey {
  const ts = id.startsWith(`${channel}:`) ? id.slice(channel.length + 1) : "";
  if (ts === "") throw new ChannelError("not_found", "Slack: no such message in this conversation");
  return { channel, ts };
}
