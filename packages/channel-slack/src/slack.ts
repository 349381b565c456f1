import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { addressCodec, type SlackAddress } from "./address.ts";
import { createSlack } from "./channel.ts";
import { type SlackConfig, slackConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { sendMedia } from "./media.ts";

/**
 * The Slack channel: receives events by socket mode or signed requests and sends messages through Slack's
 * SDK, which is loaded at start.
 */
export const slack: ChannelDefinition<SlackConfig, SlackAddress> = defineChannel({
  specVersion: 1,
  id: "slack",
  meta: {
    label: "Slack",
    description: "An app's bot, in direct messages, channels and threads.",
    docsUrl: "https://api.slack.com/apps",
    requires: ["@slack/bolt"],
    fields: {
      botToken: { label: "Bot token", secret: true, hint: "xoxb-…, under OAuth & Permissions" },
      transport: {
        label: "How events arrive",
        options: [
          { value: "socket", label: "Socket Mode", hint: "needs no public address" },
          { value: "webhook", label: "Webhook", hint: "needs a public https address" },
        ],
      },
      appToken: {
        label: "App-level token",
        secret: true,
        hint: "xapp-…, under Basic Information > App-Level Tokens, with connections:write; for sockets",
      },
      signingSecret: { label: "Signing secret", secret: true, hint: "Under Basic Information; for webhooks" },
      webhookUrl: {
        label: "Webhook URL",
        hint: "The Request URL under Event Subscriptions; `doctor` calls it to verify that it leads to this gateway",
      },
      command: { label: "Slash command", hint: "The app's; default: /signalbox" },
      replyInThread: {
        label: "Answer mentions in a thread",
        options: [
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ],
      },
      streams: {
        label: "Show answers with Slack's streaming messages",
        options: [
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ],
      },
      distribution: {
        label: "Distribution of the app",
        hint: "public for an app that others install outside Slack's marketplace",
        options: [
          { value: "internal", label: "Internal", hint: "an app for your own workspace" },
          { value: "public", label: "Public", hint: "others install it outside Slack's marketplace" },
        ],
      },
      baseUrl: { label: "API URL", hint: "Only for a proxy" },
    },
    setup: [
      {
        text: "Choose Create New App > From a manifest, and paste the manifest from docs/guides/slack.md.",
        url: "https://api.slack.com/apps",
      },
      {
        text: "Install App > Install to Workspace shows the Bot User OAuth Token.",
        fields: ["botToken", "transport"],
      },
      {
        text: "Basic Information > App-Level Tokens > Generate, with the scope connections:write.",
        fields: ["appToken"],
        when: { transport: "socket" },
      },
      {
        text: "Turn Socket Mode off, and copy the Signing Secret from Basic Information.",
        fields: ["signingSecret"],
        when: { transport: "webhook" },
      },
      {
        text: "When the gateway runs, enter this URL under Event Subscriptions, Interactivity & Shortcuts and Slash Commands: {webhook}",
        when: { transport: "webhook" },
      },
      { text: "To use the app in a channel, type /invite and its name there." },
    ],
  },
  config: slackConfig,
  capabilities: {
    text: { max: limits.partLength, unit: "utf16", markup: "markdown" },
    media: {
      kinds: ["image", "audio", "video", "file"],
      maxBytes: limits.mediaBytes,
      maxPerMessage: limits.mediaPerMessage,
    },
    sendMedia,
    edit: { ownOnly: true },
    remove: true,
    stream: "native",
    threads: "native",
    reactions: true,
    typing: true,
    openDirect: true,
    history: true,
    resolve: true,
    cards: { buttons: limits.buttons, callbackBytes: limits.callbackBytes, forms: true },
    commands: true,
    delivery: { readback: true },
    rate: [
      { scope: "conversation", perSecond: limits.messagesPerSecond, burst: limits.messageBurst },
      { scope: "account", perSecond: limits.requestsPerSecond, burst: limits.requestBurst },
    ],
    intake: "acknowledged",
    transports: ["socket", "webhook"],
  },
  codec: addressCodec,
  connects: ({ transport }) => transport === "socket",
  create: async (context) => createSlack(context),
});
