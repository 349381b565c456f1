import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type DingTalkAddress } from "./address.ts";
import { createDingTalk } from "./channel.ts";
import { type DingTalkConfig, dingtalkConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./media.ts";

/**
 * The DingTalk (钉钉) channel: receives messages to a bot of an organization's own app over a connection that the
 * channel opens (stream mode), and sends messages and streaming cards.
 */
export const dingtalk: ChannelDefinition<DingTalkConfig, DingTalkAddress> = defineChannel({
  specVersion: 1,
  id: "dingtalk",
  meta: {
    label: "DingTalk (钉钉)",
    description: "A bot of an organization's own app, in direct chats and groups, without a public address.",
    docsUrl: "https://open.dingtalk.com/document/orgapp/stream",
    fields: {
      clientId: {
        label: "Client ID (AppKey)",
        hint: "open-dev.dingtalk.com > your app > Credentials; add the bot there too, in Stream mode (凭证与基础信息 > Client ID；机器人的消息接收模式选 Stream 模式)",
      },
      clientSecret: {
        label: "Client Secret (AppSecret)",
        secret: true,
        hint: "On the same page (同一页面的 Client Secret)",
      },
      robotCode: {
        label: "RobotCode",
        hint: "Only if it is not the same as the Client ID (仅当与 Client ID 不同时填写)",
      },
      apiBaseUrl: {
        label: "API address",
        hint: "Only for another region or a dedicated DingTalk, such as https://api.dingtalk.io (仅用于其他区域或专有钉钉)",
      },
    },
    setup: [
      {
        text: "Create an internal app (Application Development > Internal Apps), and copy the Client ID and the Client Secret from Credentials & Basic Information (凭证与基础信息).",
        url: "https://open-dev.dingtalk.com",
        fields: ["clientId", "clientSecret"],
      },
      {
        text: "Under Add Capability, add a Robot with Stream mode (Stream 模式) as message receiving mode, and publish it.",
      },
      {
        text: "Under Permission Management, apply for qyapi_robot_sendmsg, Card.Instance.Write and Card.Streaming.Write. Then publish a version under Version Management & Release.",
      },
    ],
  },
  config: dingtalkConfig,
  capabilities: {
    text: { max: limits.partBytes, unit: "bytes", markup: "markdown" },
    media: { kinds: ["image", "audio", "video", "file"], maxBytes: limits.mediaBytes, maxPerMessage: 10 },
    sendMedia,
    remove: true,
    stream: "native",
    threads: "none",
    reactions: true,
    openDirect: true,
    cards: { buttons: limits.buttons, callbackBytes: limits.valueBytes },
    delivery: { draftKey: { windowMs: limits.cardMs } },
    rate: [
      { scope: "conversation", perSecond: limits.messagesPerSecond, burst: limits.messageBurst },
      { scope: "account", perSecond: limits.requestsPerSecond, burst: limits.requestsPerSecond },
    ],
    intake: "acknowledged",
    transports: ["socket"],
  },
  codec: addressCodec,
  connects: () => true,
  create: async (context) => createDingTalk(context),
});
