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
      domain: {
        label: "Feishu or Lark",
        options: [
          { value: "feishu", label: "Feishu (飞书)", hint: "open.feishu.cn" },
          { value: "lark", label: "Lark", hint: "open.larksuite.com" },
        ],
      },
      appId: { label: "App ID", hint: "cli_…, under Credentials & Basic Info" },
      appSecret: { label: "App secret", secret: true, hint: "Under Credentials & Basic Info" },
      transport: {
        label: "How events arrive",
        options: [
          { value: "socket", label: "Long connection", hint: "needs no public address" },
          { value: "webhook", label: "Webhook", hint: "needs a public https address" },
        ],
      },
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
      streams: {
        label: "Stream answers into cards",
        options: [
          { value: "true", label: "Yes", hint: "with the scope cardkit:card:write" },
          { value: "false", label: "No" },
        ],
      },
      readEdits: {
        label: "Read messages again to find edits",
        hint: "Needs up to four API calls per message",
        options: [
          { value: "true", label: "Yes", hint: "up to four API calls per message" },
          { value: "false", label: "No" },
        ],
      },
      baseUrl: { label: "API address", hint: "Only for a proxy" },
    },
    setup: [
      { fields: ["domain"] },
      {
        text: "Open the developer console, choose Create custom app, and copy the App ID and the App Secret from Credentials & Basic Info.",
        url: "https://open.feishu.cn/app",
        fields: ["appId", "appSecret"],
        when: { domain: "feishu" },
      },
      {
        text: "Open the developer console, choose Create custom app, and copy the App ID and the App Secret from Credentials & Basic Info.",
        url: "https://open.larksuite.com/app",
        fields: ["appId", "appSecret"],
        when: { domain: "lark" },
      },
      {
        text: "Enable Add features > Bot. Under Permissions & Scopes, add im:message, im:message:send_as_bot, im:resource and im:chat:readonly; cardkit:card:write and contact:user.base:readonly are optional.",
        fields: ["transport"],
      },
      {
        text: "Under Events & Callbacks > Encryption Strategy, copy the Verification Token and the Encrypt Key.",
        fields: ["encryptKey", "verificationToken"],
        when: { transport: "webhook" },
      },
      {
        text: "When the gateway runs, enter this request URL under Events & Callbacks, for events and for callbacks: {webhook}",
        when: { transport: "webhook" },
      },
      {
        text: "When the gateway runs, choose Persistent connection as the mode under Events & Callbacks, for events and for callbacks.",
        when: { transport: "socket" },
      },
      {
        text: "Add the event im.message.receive_v1 and the callback card.action.trigger. Then create a version under Version Management & Release and have it approved.",
      },
    ],
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
