import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type SignalAddress } from "./address.ts";
import { createSignal } from "./channel.ts";
import { type SignalConfig, signalConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./outbound/attachment.ts";

/**
 * The Signal channel: receives messages from the event stream of a signal-cli daemon and sends messages through its
 * JSON-RPC interface.
 */
export const signal: ChannelDefinition<SignalConfig, SignalAddress> = defineChannel({
  specVersion: 1,
  id: "signal",
  meta: {
    label: "Signal",
    description: "An account of its own, in direct conversations and groups, through signal-cli.",
    docsUrl: "https://github.com/AsamK/signal-cli",
    fields: {
      account: { label: "Phone number", hint: "Of the bot's Signal account, such as +4915112345678" },
      baseUrl: {
        label: "Address of signal-cli",
        hint: "HTTP address of the daemon (signal-cli daemon --http); default: http://127.0.0.1:8080",
      },
    },
    setup: [
      {
        text: "Install signal-cli and register a phone number with it that nobody uses with Signal.",
        url: "https://github.com/AsamK/signal-cli#installation",
        fields: ["account"],
      },
      {
        text: "Run the daemon: signal-cli -a <number> daemon --http=127.0.0.1:8080 --receive-mode=on-connection --no-receive-stdout",
        fields: ["baseUrl"],
      },
    ],
  },
  config: signalConfig,
  capabilities: {
    text: { max: limits.partLength, unit: "utf16", markup: "markdown" },
    media: {
      kinds: ["image", "audio", "video", "file", "sticker"],
      maxBytes: limits.mediaBytes,
      maxPerMessage: 32,
    },
    sendMedia,
    edit: { ownOnly: true, windowMs: limits.editWindowMs },
    remove: true,
    stream: "none",
    threads: "reply",
    reactions: true,
    typing: true,
    openDirect: true,
    resolve: true,
    delivery: {},
    rate: [{ scope: "conversation", perSecond: limits.messagesPerSecond, burst: limits.messageBurst }],
    intake: "handed_over",
    transports: ["socket"],
  },
  codec: addressCodec,
  connects: () => true,
  create: async (context) => createSignal(context),
});
