import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type WecomAddress } from "./address.ts";
import { createWecom } from "./channel.ts";
import { type WecomConfig, wecomConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./media.ts";

/**
 * The WeCom (企业微信) channel: AI bots over the long connection or encrypted callbacks. Answers are native streaming
 * replies. Needs no SDK.
 */
export const wecom: ChannelDefinition<WecomConfig, WecomAddress> = defineChannel({
  specVersion: 1,
  id: "wecom",
  meta: {
    label: "WeCom",
    description: "An AI bot of WeCom (企业微信智能机器人), in direct messages and groups.",
    docsUrl: "https://developer.work.weixin.qq.com/document/path/101463",
    fields: {
      transport: {
        label: "How messages arrive",
        options: [
          { value: "socket", label: "Long connection (长连接)", hint: "needs no public address" },
          { value: "webhook", label: "URL callback (URL 回调)", hint: "needs a public https address" },
        ],
      },
      botId: { label: "Bot ID", hint: "In the bot's API settings (API 模式 > 长连接)" },
      secret: { label: "Secret", secret: true, hint: "The long connection's secret, in the same place" },
      token: { label: "Token", secret: true, hint: "In the bot's API settings; for webhooks" },
      encodingAesKey: {
        label: "EncodingAESKey",
        secret: true,
        hint: "In the bot's API settings; for webhooks",
      },
      webhookUrl: {
        label: "Webhook URL",
        hint: "The URL in the bot's API settings; `doctor` calls it to verify that it leads to this gateway",
      },
      name: { label: "Name of the bot", hint: "Needed only if it contains spaces" },
      wsUrl: { label: "Address of the long connection", hint: "Only for a private deployment" },
      apiBaseUrl: { label: "API URL", hint: "Only for a private deployment" },
    },
    setup: [
      {
        text: "In the WeCom client: Workbench > AI bots (工作台 > 智能机器人) > Create a bot > Create manually > Create in API mode (API 模式创建).",
        fields: ["transport"],
      },
      {
        text: "Choose Long connection (使用长连接), and copy the Bot ID and the Secret.",
        fields: ["botId", "secret"],
        when: { transport: "socket" },
      },
      {
        text: "Choose Receive by URL (使用 URL 回调), and generate the Token and the EncodingAESKey.",
        fields: ["token", "encodingAesKey"],
        when: { transport: "webhook" },
      },
      {
        text: "When the gateway runs, enter this URL and save the page; WeCom checks it at once: {webhook}",
        when: { transport: "webhook" },
      },
      { text: "Set the visible range (可见范围) of the bot: only these people can use it." },
    ],
  },
  config: wecomConfig,
  capabilities: {
    text: { max: limits.contentBytes, unit: "bytes", markup: "markdown" },
    media: {
      kinds: ["image", "video", "file"],
      maxBytes: limits.mediaBytes,
      maxPerMessage: limits.mediaPerMessage,
    },
    sendMedia,
    stream: "native",
    threads: "reply",
    openDirect: true,
    // Streams have our ids. Messages without a reply have neither a key nor a history.
    delivery: { draftKey: { windowMs: limits.streamWindowMs }, readback: "recent" },
    rate: [{ scope: "conversation", perSecond: limits.messagesPerSecond, burst: limits.messageBurst }],
    intake: "handed_over",
    transports: ["socket", "webhook"],
  },
  codec: addressCodec,
  connects: ({ transport }) => transport === "socket",
  sendsOverConnection: ({ transport }) => transport === "socket",
  create: async (context) => createWecom(context),
});
