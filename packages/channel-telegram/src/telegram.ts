import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type TelegramAddress } from "./address.ts";
import { createTelegram } from "./channel.ts";
import { type TelegramConfig, telegramConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./media.ts";

/**
 * The Telegram channel: receives a bot's updates by long polling or webhook and sends messages through
 * grammY, which is loaded on the first call.
 */
export const telegram: ChannelDefinition<TelegramConfig, TelegramAddress> = defineChannel({
  specVersion: 1,
  id: "telegram",
  meta: {
    label: "Telegram",
    description: "A bot, in private chats, groups, forum topics and channels.",
    docsUrl: "https://core.telegram.org/bots",
    requires: ["grammy"],
    fields: {
      botToken: {
        label: "Bot token",
        secret: true,
        hint: "From @BotFather: /newbot, or /mybots > API Token",
      },
      transport: {
        label: "How updates arrive",
        options: [
          { value: "polling", label: "Polling", hint: "needs no public address" },
          { value: "webhook", label: "Webhook", hint: "needs a public https address" },
        ],
      },
      webhookSecret: {
        label: "Webhook secret",
        secret: true,
        hint: "Chosen by you, at least 16 letters and digits; only for a webhook",
      },
      webhookUrl: {
        label: "Webhook address",
        hint: "https address of this webhook as Telegram reaches it; without it, register it yourself with setWebhook",
      },
      richMessages: {
        label: "Rich messages",
        hint: "Tables, headings, nested lists and formulas as Telegram's own, which older clients do not show",
        options: [
          { value: "false", label: "No" },
          {
            value: "true",
            label: "Yes",
            hint: "tables, headings and formulas as Telegram's own, which older clients do not show",
          },
        ],
      },
      apiBaseUrl: { label: "API address", hint: "Only for a Bot API server of your own" },
    },
    setup: [
      {
        text: "Write /newbot to @BotFather in Telegram and answer its questions. It replies with the token.",
        url: "https://t.me/BotFather",
        fields: ["botToken"],
      },
      {
        text: "Choose a webhook secret, for instance with `openssl rand -hex 32`. The gateway registers this address at each start: {webhook}",
        fields: ["webhookSecret"],
        when: { transport: "webhook" },
      },
      {
        text: "For groups, write /setprivacy to @BotFather, select the bot and choose Disable. Otherwise the bot sees only commands, mentions and replies there.",
      },
    ],
  },
  config: telegramConfig,
  capabilities: {
    text: { max: limits.partLength, unit: "utf16", maxMarks: limits.entities, markup: "markdown" },
    media: {
      kinds: ["image", "audio", "video", "file", "sticker"],
      maxBytes: limits.mediaBytes,
      maxPerMessage: 1,
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
    resolve: true,
    cards: { buttons: limits.buttons, callbackBytes: limits.valueBytes },
    commands: true,
    delivery: { readback: "recent" },
    rate: [
      { scope: "conversation", perSecond: limits.messagesPerSecond, burst: limits.messageBurst },
      { scope: "account", perSecond: limits.requestsPerSecond, burst: limits.requestsPerSecond },
    ],
    intake: "acknowledged",
    transports: ["poll", "webhook"],
  },
  codec: addressCodec,
  connects: ({ transport }) => transport === "polling",
  create: async (context) => createTelegram(context),
});
