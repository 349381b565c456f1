import type { RecordedPayload } from "@signalbox/channel/testkit";
import { callback, type Expected, inChannel, type Json, ts } from "./recorded-callback.ts";

function message(name: string, more: { readonly [key: string]: Json }, expected: Expected): RecordedPayload {
  const event = {
    type: "message",
    user: "U_ANN",
    ts,
    team: "T061EG9R6",
    channel: "D024BE91L",
    channel_type: "im",
    client_msg_id: `c-${name}`,
    ...more,
  };
  return callback(name, event, [
    {
      type: "message",
      eventId: `message:c-${name}`,
      messageId: `${event.channel}:${ts}`,
      timestamp: 1767225599000,
      sender: { id: "U_ANN", isBot: false, isSelf: false },
      ...expected,
    },
  ]);
}

const richText = (...elements: readonly Json[]): Json => [
  { type: "rich_text", block_id: "b", elements: [...elements] },
];
const section = (...elements: readonly Json[]): Json => ({
  type: "rich_text_section",
  elements: [...elements],
});
const words = (text: string, style?: Json): Json => ({
  type: "text",
  text,
  style,
});

const file = {
  id: "F0PARTY",
  name: "party.gif",
  title: "party",
  mimetype: "image/gif",
  filetype: "gif",
  mode: "hosted",
  size: 4321,
  url_private: "https://files.slack.com/files-pri/T061EG9R6-F0PARTY/party.gif",
  url_private_download: "https://files.slack.com/files-pri/T061EG9R6-F0PARTY/download/party.gif",
};

/** Base of an event about an existing message. */
const later = { type: "message", hidden: true, ts: "1767225650.000100", ...inChannel };
const annsMessage = (text: string) => ({ type: "message", user: "U_ANN", text, ts });

/** Messages, actions on messages, and events that look like messages. */
export const messages: readonly RecordedPayload[] = [
  message(
    "direct",
    { text: "hello &lt;b&gt; &amp; all" },
    {
      text: "hello <b> & all",
      addressed: "dm",
      conversation: { id: "D024BE91L", kind: "direct", teamId: "T061EG9R6" },
      address: "slack:D024BE91L",
      media: [],
      mentions: [],
    },
  ),
  message(
    "group",
    { text: "hello", channel: "G024BE91L", channel_type: "mpim" },
    {
      text: "hello",
      addressed: "none",
      conversation: { id: "G024BE91L", kind: "group" },
    },
  ),
  message(
    "private channel",
    { text: "hello", channel: "C0PRIVATE", channel_type: "group" },
    {
      addressed: "none",
      conversation: { id: "C0PRIVATE", kind: "channel" },
    },
  ),
  message(
    "mention",
    { ...inChannel, text: "<@U_BOT> what does <@U_ANN|ann> say in <#C1|general>?" },
    {
      text: "what does @Ann say in #general?",
      addressed: "mention",
      conversation: { id: "C024BE91L", kind: "channel", threadId: ts },
      address: `slack:C024BE91L/${ts}`,
      mentions: [
        { id: "U_BOT", isSelf: true },
        { id: "U_ANN", name: "Ann", isSelf: false },
      ],
    },
  ),
  message(
    "mention in a thread",
    { ...inChannel, thread_ts: "1767225500.000100", text: "and <@U_BOT>?" },
    {
      text: "and @signalbox?",
      addressed: "mention",
      conversation: { id: "C024BE91L", kind: "channel", threadId: "1767225500.000100" },
      address: "slack:C024BE91L/1767225500.000100",
      references: [{ kind: "thread", messageId: "C024BE91L:1767225500.000100" }],
    },
  ),
  message(
    "answer to the bot",
    { ...inChannel, thread_ts: "1767225500.000100", parent_user_id: "U_BOT", text: "thanks" },
    { text: "thanks", addressed: "reply" },
  ),
  message(
    "thread broadcast",
    { ...inChannel, subtype: "thread_broadcast", thread_ts: "1767225500.000100", text: "for all" },
    { text: "for all", addressed: "none" },
  ),
  message(
    "links and calls",
    {
      text: "<https://a.example/?a=1&amp;b=2|here> <https://a.example> <mailto:a@b.example|a@b.example> <!here> <!subteam^S1|@ops>",
    },
    { text: "[here](https://a.example/?a=1&b=2) https://a.example a@b.example @here @ops" },
  ),
  message(
    "rich text",
    {
      text: "<@U_BOT> *bold*",
      blocks: richText(
        section(
          { type: "user", user_id: "U_BOT" },
          words(" read "),
          words("this ", { bold: true }),
          words("now", { italic: true, strike: true }),
        ),
        {
          type: "rich_text_list",
          style: "ordered",
          indent: 0,
          elements: [section(words("one")), section(words("two", { code: true }))],
        },
        { type: "rich_text_preformatted", elements: [words("a < b\n")] },
        { type: "rich_text_quote", elements: [words("said\ntwice")] },
        section({ type: "emoji", name: "wave" }, words(" "), {
          type: "link",
          url: "https://a.example",
          text: "there",
        }),
      ),
    },
    {
      text: "read **this** _~~now~~_\n1. one\n2. `two`\n```\na < b\n```\n> said\n> twice\n👋 [there](https://a.example)",
    },
  ),
  message(
    "file",
    { subtype: "file_share", text: "look", files: [file] },
    {
      text: "look",
      media: [
        {
          kind: "image",
          mimeType: "image/gif",
          name: "party.gif",
          size: 4321,
          ref: { id: "F0PARTY", url: file.url_private_download },
        },
      ],
    },
  ),
  message(
    "spoken clip",
    {
      text: "",
      files: [
        { ...file, subtype: "slack_audio", mimetype: "video/mp4" },
        { id: "F1", mode: "tombstone" },
      ],
    },
    { text: "", media: [{ kind: "audio", mimeType: "video/mp4" }] },
  ),
  message(
    "shared message",
    {
      text: "see",
      attachments: [
        {
          is_share: true,
          author_id: "U_BEN",
          author_name: "Ben",
          channel_id: "C_OTHER",
          ts: "1767225000.000100",
          text: "old <https://x.example|words>",
          files: [file],
        },
      ],
    },
    {
      text: "see",
      media: [],
      references: [
        {
          kind: "forward",
          messageId: "C_OTHER:1767225000.000100",
          sender: { id: "U_BEN", name: "Ben" },
          timestamp: 1_767_225_000_000,
          text: "old [words](https://x.example)",
          media: [{ name: "party.gif" }],
        },
      ],
    },
  ),
  message(
    "another bot",
    { ...inChannel, user: "U_OTHER", bot_id: "B_OTHER", text: "<@U_BOT> hi" },
    {
      sender: { id: "U_OTHER", isBot: true, isSelf: false },
      addressed: "mention",
    },
  ),
  message(
    "old bot",
    { ...inChannel, subtype: "bot_message", user: null, bot_id: "B_OTHER", username: "x", text: "hi" },
    { sender: { id: "B_OTHER", isBot: true, isSelf: false }, addressed: "none" },
  ),
  message(
    "alert of a bot, in an attachment",
    {
      ...inChannel,
      bot_id: "B_OTHER",
      text: "",
      attachments: [
        {
          fallback: "[FIRING] Disk full",
          pretext: "<https://ops.example/1|Alert 1>",
          title: "Disk full",
          text: "97 % of `/var` &amp; rising",
          fields: [{ title: "Host", value: "db-1", short: true }],
        },
        { fallback: "Only this" },
      ],
    },
    {
      text: "[Alert 1](https://ops.example/1)\nDisk full\n97 % of `/var` & rising\nHost: db-1\n\nOnly this",
      sender: { isBot: true },
    },
  ),
  message(
    "report of a bot, in blocks",
    {
      ...inChannel,
      bot_id: "B_OTHER",
      text: "",
      blocks: [
        { type: "header", text: { type: "plain_text", text: "Build 7" } },
        {
          type: "section",
          text: { type: "mrkdwn", text: "*failed*" },
          fields: [{ type: "mrkdwn", text: "in main" }],
        },
        { type: "divider" },
        {
          type: "context",
          elements: [
            { type: "image", alt_text: "x" },
            { type: "mrkdwn", text: "by Ann" },
          ],
        },
      ],
    },
    { text: "Build 7\n*failed*\nin main\nby Ann", sender: { isBot: true } },
  ),
  message(
    "words beside a link whose preview Slack adds",
    {
      text: "see <https://a.example>",
      attachments: [{ from_url: "https://a.example", title: "A page", text: "…" }],
    },
    { text: "see https://a.example" },
  ),
  callback(
    "own message",
    { type: "message", user: "U_BOT", bot_id: "B_BOT", text: "me", ts, ...inChannel },
    [],
  ),
  callback(
    "someone joined, as a message",
    { type: "message", subtype: "channel_join", user: "U_ANN", text: "", ts, ...inChannel },
    [],
  ),
  callback(
    "app mention",
    {
      type: "app_mention",
      user: "U_ANN",
      text: "<@U_BOT> hi",
      ts,
      channel: "C024BE91L",
      client_msg_id: "c-m",
    },
    [
      {
        type: "message",
        eventId: "message:c-m",
        messageId: `C024BE91L:${ts}`,
        text: "hi",
        addressed: "mention",
      },
    ],
  ),
  callback(
    "edit",
    {
      ...later,
      subtype: "message_changed",
      message: { ...annsMessage("new"), edited: { user: "U_ANN", ts: "1767225650.000000" } },
      previous_message: annsMessage("old"),
    },
    [
      {
        type: "edited",
        eventId: `edited:C024BE91L:${ts}:1767225650.000000`,
        messageId: `C024BE91L:${ts}`,
        text: "new",
      },
    ],
  ),
  callback(
    "link preview",
    {
      ...later,
      subtype: "message_changed",
      message: { ...annsMessage("same"), attachments: [{ title: "a page" }] },
      previous_message: annsMessage("same"),
    },
    [],
  ),
  callback(
    "deletion",
    {
      ...later,
      subtype: "message_deleted",
      deleted_ts: ts,
      previous_message: annsMessage("old"),
    },
    [{ type: "deleted", messageId: `C024BE91L:${ts}`, sender: { id: "U_ANN" } }],
  ),
  callback(
    "deletion of what was answered",
    {
      ...later,
      subtype: "message_changed",
      message: {
        type: "message",
        subtype: "tombstone",
        user: "USLACKBOT",
        text: "This message was deleted.",
        ts,
      },
      previous_message: annsMessage("old"),
    },
    [{ type: "deleted", messageId: `C024BE91L:${ts}` }],
  ),
  message(
    "enterprise grid",
    { text: "hi", user: "W_GRID", team: "E0001", user_team: "E0001" },
    {
      sender: { id: "W_GRID", isBot: false, isSelf: false },
      conversation: { teamId: "T061EG9R6" },
    },
  ),
  message(
    "in a thread of the agent view",
    { text: "hello", thread_ts: "1767225500.000100", parent_user_id: "U_BOT", app_context: { entities: [] } },
    { text: "hello", addressed: "dm", address: "slack:D024BE91L/1767225500.000100" },
  ),
];
