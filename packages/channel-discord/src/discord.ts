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
        label: "Message Content Intent",
        hint: "Under Bot in the developer portal; false reads only direct messages and mentions",
        options: [
          { value: "true", label: "On", hint: "the bot reads all messages of its channels" },
          { value: "false", label: "Off", hint: "it reads only direct messages and mentions" },
        ],
      },
      registerCommands: {
        label: "Register slash commands",
        options: [
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ],
      },
      apiBaseUrl: { label: "API URL", hint: "Only for a proxy" },
    },
    setup: [
      {
        text: "Create a new application in the developer portal. Under Bot, Reset Token shows the token once.",
        url: "https://discord.com/developers/applications",
        fields: ["token"],
      },
      {
        text: "On the same page, turn on Message Content Intent under Privileged Gateway Intents.",
        fields: ["messageContent"],
      },
      {
        text: "Invite the bot to a server: OAuth2 > URL Generator, with the scopes bot and applications.commands, or the address that the gateway logs when it starts.",
      },
    ],
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
