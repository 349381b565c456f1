import { type AddressCodec, ChannelError, createAddressCodec } from "@signalbox/channel";

/** Where an answer goes. */
export interface SlackAddress {
  /** A conversation (`C…`, `D…`, `G…`). */
  readonly channel: string;
  /** The timestamp of the message that began the thread to answer in. */
  readonly thread?: string;
  /** The slash command that is answered, which is in no thread. */
  readonly command?: string;
}

const ofCommand = "command-";

/** `slack:C…`, `slack:C…/1700000000.000100` or `slack:C…/command-…`. */
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
