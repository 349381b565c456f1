import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type IMessageAddress } from "./address.ts";
import { createIMessage } from "./channel.ts";
import { type IMessageConfig, imessageConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./outbound/send.ts";

/**
 * The iMessage channel: reads the rows of the database of Messages on a Mac and sends through Messages, with imsg
 * (locally or over ssh) or a BlueBubbles server.
 */
export const imessage: ChannelDefinition<IMessageConfig, IMessageAddress> = defineChannel({
  specVersion: 1,
  id: "imessage",
  meta: {
    label: "iMessage",
    description: "An Apple account on a Mac, in direct conversations and groups.",
    docsUrl: "https://github.com/openclaw/imsg",
    fields: {
      command: {
        label: "Command of imsg",
        hint: "imsg rpc on the Mac itself, or ssh my-mac imsg rpc; empty for BlueBubbles",
      },
      baseUrl: { label: "Address of BlueBubbles", hint: "Only with BlueBubbles instead of imsg" },
      password: { label: "Password of BlueBubbles", secret: true, hint: "Only with BlueBubbles" },
    },
    setup: [
      {
        text: "On a Mac that is signed in to Messages: brew install steipete/tap/imsg, then grant Full Disk Access and Automation > Messages to the program that starts imsg. Leave the command empty for BlueBubbles.",
        url: "https://github.com/openclaw/imsg",
        fields: ["command"],
      },
      {
        text: "Set a password in the settings of the BlueBubbles server.",
        url: "https://bluebubbles.app/install",
        fields: ["baseUrl", "password"],
        when: { command: "" },
      },
    ],
  },
  config: imessageConfig,
  capabilities: {
    text: { max: limits.partLength, unit: "utf16", markup: "markdown" },
    media: {
      kinds: ["image", "audio", "video", "file", "sticker"],
      maxBytes: limits.mediaBytes,
      maxPerMessage: 20,
    },
    sendMedia,
    stream: "none",
    threads: "reply",
    reactions: true,
    openDirect: true,
    delivery: { readback: true },
    rate: [{ scope: "conversation", perSecond: limits.messagesPerSecond, burst: limits.messageBurst }],
    intake: "cursor",
    transports: ["poll"],
  },
  codec: addressCodec,
  connects: () => true,
  sendsOverConnection: (config) => "command" in config,
  create: async (context) => createIMessage(context),
});
