import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type DiscordAddress } from "./address.ts";
import { createDiscord } from "./channel.ts";
import { type DiscordConfig, discordConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./media.ts";

/**
 * The Discord channel: a bot in servers, threads and direct conversations. discord.js's clients are loaded on start.
 */
export const discord: ChannelDefinition<DiscordConfig, DiscordAddress> = defineChannel({
  specVersion: 1,
  id: "discord",
  meta: {
    label: "Discord",
    description: "A bot in servers, threads and direct conversations.",
    docsUrl: "https://discord.com/developers/applications",
    requires: ["@discordjs/rest", "@discordjs/ws"],
    fields: {
      token: { label: "Bot token", secret: true, hint: "Under Bot > Reset Token in the developer portal" },
      messageContent: {
        label: "Read all messages",
        hint: "true needs Message Content Intent, under Bot; false reads only direct messages and mentions",
      },
      registerCommands: { label: "Register slash commands" },
      apiBaseUrl: { label: "API URL", hint: "Only for a proxy" },
    },
  },
  config: discordConfig,
  capabilities: {
    text: { max: limits.partLength, unit: "utf16", markup: "markdown" },
    media: {
      kinds: ["image", "audio", "video", "file"],
      maxBytes: limits.mediaBytes,
      maxPerMessage: limits.mediaPerMessage,
    },
    sendMedia,
    polls: limits.poll,
    edit: { ownOnly: true },
    remove: true,
    stream: "draft",
    threads: "native",
    reactions: true,
    typing: true,
    openDirect: true,
    history: true,
    resolve: true,
    cards: {
      buttons: limits.buttons,
      callbackBytes: limits.callbackBytes,
      textMax: limits.componentTextLength,
      forms: true,
    },
    commands: true,
    delivery: { idempotencyKey: { windowMs: limits.nonceWindowMs }, readback: true },
    rate: [
      { scope: "conversation", perSecond: limits.messagesPerSecond, burst: limits.messageBurst },
      { scope: "account", perSecond: limits.requestsPerSecond, burst: limits.requestsPerSecond },
    ],
    intake: "cursor",
    transports: ["socket"],
  },
  codec: addressCodec,
  connects: () => true,
  create: async (context) => createDiscord(context),
});
