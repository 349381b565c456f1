import type { Recorded } from "@signalbox/channel/testkit";

/** Payloads in the form of Slack's reference, one for each kind, and what they mean. */

type Json = Recorded["payload"];
type Expected = Readonly<Record<string, unknown>>;

const ts = "1767225599.000200";

function callback(
  name: string,
  event: { readonly [key: string]: Json },
  events: readonly Expected[],
): Recorded {
  return {
    name,
    payload: {
      type: "events_api",
      body: {
        token: "ZZZZZZWSxiZZZ2yIvs3peJ",
        team_id: "T061EG9R6",
        context_team_id: "T061EG9R6",
        context_enterprise_id: null,
        api_app_id: "A0MDYCDME",
        type: "event_callback",
        event_id: `Ev_${name.replace(/\W+/g, "_")}`,
        event_time: 1767225600,
        event_context: "4-eyJldCI6Im1lc3NhZ2UifQ",
        authorizations: [
          {
            enterprise_id: null,
            team_id: "T061EG9R6",
            user_id: "U_BOT",
            is_bot: true,
            is_enterprise_install: false,
          },
        ],
        event: { event_ts: ts, ...event },
      },
    },
    events,
  };
}

function message(name: string, more: { readonly [key: string]: Json }, expected: Expected): Recorded {
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

const inChannel = { channel: "C024BE91L", channel_type: "channel" };

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
  ...(style === undefined ? {} : { style }),
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

export const recorded: readonly Recorded[] = [
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
      replyTo: { messageId: "C024BE91L:1767225500.000100" },
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
    { text: "see", attachments: [{ is_share: true, author_id: "U_BEN", text: "old words", ts: "1.0" }] },
    { text: "see\n\n> old words", forwarded: { from: "U_BEN" } },
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
      type: "message",
      subtype: "message_changed",
      hidden: true,
      ts: "1767225650.000100",
      ...inChannel,
      message: {
        type: "message",
        user: "U_ANN",
        text: "new",
        ts,
        edited: { user: "U_ANN", ts: "1767225650.000000" },
      },
      previous_message: { type: "message", user: "U_ANN", text: "old", ts },
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
      type: "message",
      subtype: "message_changed",
      hidden: true,
      ts: "1767225650.000100",
      ...inChannel,
      message: { type: "message", user: "U_ANN", text: "same", ts, attachments: [{ title: "a page" }] },
      previous_message: { type: "message", user: "U_ANN", text: "same", ts },
    },
    [],
  ),
  callback(
    "deletion",
    {
      type: "message",
      subtype: "message_deleted",
      hidden: true,
      ts: "1767225650.000100",
      ...inChannel,
      deleted_ts: ts,
      previous_message: { type: "message", user: "U_ANN", text: "old", ts },
    },
    [{ type: "deleted", messageId: `C024BE91L:${ts}`, sender: { id: "U_ANN" } }],
  ),
  callback(
    "deletion of what was answered",
    {
      type: "message",
      subtype: "message_changed",
      hidden: true,
      ts: "1767225650.000100",
      ...inChannel,
      message: {
        type: "message",
        subtype: "tombstone",
        user: "USLACKBOT",
        text: "This message was deleted.",
        ts,
      },
      previous_message: { type: "message", user: "U_ANN", text: "old", ts },
    },
    [{ type: "deleted", messageId: `C024BE91L:${ts}` }],
  ),
  callback(
    "reaction",
    {
      type: "reaction_added",
      user: "U_ANN",
      reaction: "+1::skin-tone-3",
      item_user: "U_BOT",
      item: { type: "message", channel: "C024BE91L", ts },
    },
    [{ type: "reaction", messageId: `C024BE91L:${ts}`, emoji: "👍", added: true, sender: { id: "U_ANN" } }],
  ),
  callback(
    "reaction taken back, of the workspace's own",
    {
      type: "reaction_removed",
      user: "U_ANN",
      reaction: "shipit",
      item: { type: "message", channel: "D024BE91L", ts },
    },
    [{ type: "reaction", emoji: ":shipit:", added: false, addressed: "dm" }],
  ),
  callback(
    "member",
    {
      type: "member_joined_channel",
      user: "U_BOT",
      channel: "C024BE91L",
      channel_type: "C",
      team: "T061EG9R6",
    },
    [{ type: "member", change: "joined", member: { id: "U_BOT", isSelf: true } }],
  ),
  callback(
    "rename",
    { type: "channel_rename", channel: { id: "C024BE91L", name: "new-name", created: 1360782804 } },
    [
      {
        type: "lifecycle",
        what: "renamed",
        conversation: { id: "C024BE91L", subject: "new-name" },
        detail: { name: "new-name" },
      },
    ],
  ),
  callback("archive", { type: "channel_archive", channel: "C024BE91L", user: "U_ANN" }, [
    { type: "lifecycle", what: "removed" },
  ]),
  callback("unknown event", { type: "emoji_changed", subtype: "add", name: "x" }, []),
  {
    name: "button",
    payload: {
      type: "interactive",
      body: {
        type: "block_actions",
        user: { id: "U_ANN", username: "ann", name: "ann", team_id: "T061EG9R6" },
        api_app_id: "A0MDYCDME",
        token: "9s8d9as89d8as9d8as989",
        container: { type: "message", message_ts: ts, channel_id: "C024BE91L", is_ephemeral: false },
        trigger_id: "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
        team: { id: "T061EG9R6", domain: "team" },
        enterprise: null,
        is_enterprise_install: false,
        channel: { id: "C024BE91L", name: "general" },
        message: {
          type: "message",
          bot_id: "B_BOT",
          text: "?",
          user: "U_BOT",
          ts,
          thread_ts: "1767225500.000100",
        },
        response_url: "https://hooks.slack.com/actions/AABA1ABCD/1232321423432/D09sSasdasdAS9091209",
        actions: [
          {
            action_id: "0:approve",
            block_id: "Qjkd",
            text: { type: "plain_text", text: "Yes" },
            value: '{"id":7}',
            type: "button",
            action_ts: "1767225660.000100",
          },
        ],
      },
    },
    events: [
      {
        type: "action",
        eventId: "action:12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
        actionId: "approve",
        value: { id: 7 },
        messageId: `C024BE91L:${ts}`,
        address: "slack:C024BE91L/1767225500.000100",
        sender: { id: "U_ANN", isBot: false },
        timestamp: 1767225660000,
      },
    ],
  },
  {
    name: "shortcut",
    payload: {
      type: "interactive",
      body: { type: "shortcut", callback_id: "x", trigger_id: "1.2", user: { id: "U_ANN" } },
    },
    events: [],
  },
  {
    name: "command",
    payload: {
      type: "slash_commands",
      body: {
        token: "gIkuvaNzQIHg97ATvDxqgjtO",
        team_id: "T061EG9R6",
        team_domain: "example",
        enterprise_id: "E0001",
        channel_id: "D024BE91L",
        channel_name: "directmessage",
        user_id: "U_ANN",
        user_name: "ann",
        command: "/signalbox",
        text: "Status  of all ",
        response_url: "https://hooks.slack.com/commands/1234/5678",
        trigger_id: "13345224609.738474920.8088930838d88f008e0",
        api_app_id: "A0MDYCDME",
      },
    },
    events: [
      {
        type: "command",
        name: "status",
        args: "of all",
        eventId: "command:13345224609.738474920.8088930838d88f008e0",
        addressed: "dm",
        conversation: { id: "D024BE91L", kind: "direct", teamId: "T061EG9R6" },
        sender: { id: "U_ANN" },
      },
    ],
  },
  message(
    "enterprise grid",
    { text: "hi", user: "W_GRID", team: "E0001", user_team: "E0001" },
    {
      sender: { id: "W_GRID", isBot: false, isSelf: false },
      conversation: { teamId: "T061EG9R6" },
    },
  ),
];
