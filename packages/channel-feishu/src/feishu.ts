import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type FeishuAddress } from "./address.ts";
import { createFeishu } from "./channel.ts";
import { type FeishuConfig, feishuConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./media.ts";

/**
 * The Feishu and Lark channel: receives events by webhook, or over the long connection of the vendor's SDK, which is
 * loaded when an account connects.
 */
export const feishu: ChannelDefinition<FeishuConfig, FeishuAddress> = defineChannel({
  specVersion: 1,
  id: "feishu",
  meta: {
    label: "Feishu / Lark",
    description: "A custom app's bot, in direct conversations and groups.",
    docsUrl: "https://open.feishu.cn",
    fields: {
      appId: { label: "App ID", hint: "cli_…, under Credentials & Basic Info" },
      appSecret: { label: "App secret", secret: true, hint: "Under Credentials & Basic Info" },
      verificationToken: {
        label: "Verification token",
        secret: true,
        hint: "Under Events & Callbacks > Encryption Strategy; optional with an encrypt key",
      },
      encryptKey: {
        label: "Encrypt key",
        secret: true,
        hint: "Under Events & Callbacks > Encryption Strategy",
      },
      webhookUrl: {
        label: "Webhook address",
        hint: "The app's request URL; `doctor` calls it to verify that it leads to this gateway",
      },
      transport: { label: "webhook or socket", hint: "Transport of events; default: webhook" },
      domain: { label: "feishu or lark", hint: "The platform of the app; default: feishu" },
      streams: { label: "Stream answers into cards" },
      readEdits: {
        label: "Read messages again to find edits",
        hint: "Needs up to four API calls per message",
      },
      baseUrl: { label: "API address", hint: "Only for a proxy" },
    },
  },
  config: feishuConfig,
  capabilities: {
    text: { max: limits.partBytes, unit: "bytes", markup: "markdown" },
    media: {
      kinds: ["image", "audio", "video", "file"],
      maxBytes: limits.mediaBytes,
      maxPerMessage: limits.mediaPerMessage,
    },
    sendMedia,
    edit: { ownOnly: true, windowMs: limits.editWindowMs },
    remove: true,
    stream: "draft",
    threads: "native",
    reactions: true,
    typing: true,
    openDirect: true,
    history: true,
    resolve: true,
    cards: { buttons: limits.buttons, callbackBytes: limits.callbackBytes, forms: true },
    delivery: { idempotencyKey: { windowMs: limits.uuidWindowMs }, readback: true },
    rate: [
      { scope: "conversation", perSecond: limits.messagesPerSecond, burst: limits.messageBurst },
      { scope: "account", perSecond: limits.requestsPerSecond, burst: limits.requestBurst },
    ],
    intake: "acknowledged",
    transports: ["webhook", "socket"],
  },
  codec: addressCodec,
  connects: ({ transport }) => transport === "socket",
  create: async (context) => createFeishu(context),
});
