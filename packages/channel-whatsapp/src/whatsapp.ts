import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type WhatsAppAddress } from "./address.ts";
import { createWhatsApp } from "./channel.ts";
import { type WhatsAppConfig, whatsappConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./media.ts";

/** The WhatsApp channel: receives signed webhooks of the Cloud API and sends messages over `fetch`. */
export const whatsapp: ChannelDefinition<WhatsAppConfig, WhatsAppAddress> = defineChannel({
  specVersion: 1,
  id: "whatsapp",
  meta: {
    label: "WhatsApp",
    description: "A business number of the WhatsApp Cloud API.",
    docsUrl: "https://developers.facebook.com/documentation/business-messaging/whatsapp",
    fields: {
      phoneNumberId: {
        label: "Phone number ID",
        hint: "Under WhatsApp > API Setup of the app; not the phone number",
      },
      appSecret: { label: "App secret", secret: true, hint: "Under App settings > Basic of the app" },
      accessToken: {
        label: "Access token",
        secret: true,
        hint: "Of a system user, under Business settings > System users; with whatsapp_business_messaging and whatsapp_business_management",
      },
      verifyToken: {
        label: "Verify token",
        secret: true,
        hint: "Chosen by you, at least 8 characters; enter it with the webhook URL under WhatsApp > Configuration",
      },
      apiBaseUrl: { label: "API address", hint: "Only for a proxy" },
    },
    setup: [
      {
        text: "Create an app for WhatsApp and add your phone number under WhatsApp > API Setup. Copy the Phone number ID there, and the App secret under App settings > Basic.",
        url: "https://developers.facebook.com/apps",
        fields: ["phoneNumberId", "appSecret"],
      },
      {
        text: "Under Users > System users, add a system user, assign the app and the WhatsApp account to it, and generate a token that never expires.",
        url: "https://business.facebook.com/settings",
        fields: ["accessToken"],
      },
      { text: "Choose a verify token, for instance with `openssl rand -hex 32`.", fields: ["verifyToken"] },
      {
        text: "When the gateway runs, enter this Callback URL and the verify token under WhatsApp > Configuration, subscribe to messages, and switch the app to Live: {webhook}",
      },
    ],
  },
  config: whatsappConfig,
  capabilities: {
    text: { max: limits.partLength, unit: "utf16", markup: "markdown" },
    media: {
      kinds: ["image", "audio", "video", "file", "sticker"],
      maxBytes: limits.mediaBytes,
      maxPerMessage: 1,
    },
    sendMedia,
    stream: "none",
    threads: "reply",
    reactions: true,
    typing: true,
    openDirect: true,
    cards: { buttons: limits.rows, callbackBytes: limits.callbackBytes, textMax: limits.questionLength },
    delivery: { readback: "recent" },
    rate: [
      { scope: "conversation", perSecond: limits.pairPerSecond, burst: limits.pairBurst },
      { scope: "account", perSecond: limits.messagesPerSecond, burst: limits.messagesPerSecond },
    ],
    replies: { windowMs: limits.windowMs },
    intake: "acknowledged",
    transports: ["webhook"],
  },
  codec: addressCodec,
  create: async (context) => createWhatsApp(context),
});
