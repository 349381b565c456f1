import type { RecordedPayload } from "@signalbox/channel/testkit";

/** Payloads in the form of the open platform's documentation, one for each kind, and what they mean. */

const header = (type: string, id: string) => ({
  event_id: id,
  event_type: type,
  create_time: "1767225600000",
  token: "token-of-the-app",
  app_id: "cli_0123456789abcdef",
  tenant_key: "736588c9260f175e",
});

const person = {
  sender_id: { union_id: "on_1", user_id: "e33ggbyz", open_id: "ou_sender" },
  sender_type: "user",
  tenant_key: "736588c9260f175e",
};

type Json = RecordedPayload["payload"];

function message(
  name: string,
  type: string,
  content: unknown,
  expected: Record<string, unknown>,
  more: Record<string, Json> = {},
): RecordedPayload {
  const id = `om_${name.replace(/\W+/g, "_")}`;
  return {
    name,
    payload: {
      schema: "2.0",
      header: header("im.message.receive_v1", `ev_${id}`),
      event: {
        sender: person,
        message: {
          message_id: id,
          create_time: "1767225599123",
          update_time: "1767225599123",
          chat_id: "oc_direct",
          chat_type: "p2p",
          message_type: type,
          content: typeof content === "string" ? content : JSON.stringify(content),
          ...more,
        },
      },
    },
    events: [
      {
        type: "message",
        eventId: `ev_${id}`,
        messageId: id,
        timestamp: 1767225599123,
        sender: { id: "ou_sender", isBot: false, isSelf: false },
        ...expected,
      },
    ],
  };
}

const mention = (n: number, openId: string, name: string) => ({
  key: `@_user_${n}`,
  id: { union_id: `on_${openId}`, user_id: "", open_id: openId },
  name,
  tenant_key: "736588c9260f175e",
});
const group = { chat_id: "oc_group", chat_type: "group" };
const media = (kind: string, key: string, type: string, more: Record<string, unknown> = {}) => ({
  text: "",
  media: [{ kind, ref: { key, type }, ...more }],
});

export const recorded: readonly RecordedPayload[] = [
  message(
    "text",
    "text",
    { text: "你好\r\n世界" },
    {
      text: "你好\n世界",
      addressed: "dm",
      conversation: { id: "oc_direct", kind: "direct", teamId: "736588c9260f175e" },
      address: "feishu:oc_direct",
    },
  ),
  message(
    "post",
    "post",
    {
      title: "周报",
      content: [
        [
          { tag: "text", text: "第一行 ", style: ["bold"] },
          { tag: "a", text: "链接", href: "https://example.com/a" },
          { tag: "at", user_id: "@_user_1", user_name: "李四" },
        ],
        [{ tag: "img", image_key: "img_1", width: 300, height: 300 }],
        [
          { tag: "emotion", emoji_type: "SMILE" },
          { tag: "md", text: "**md**" },
        ],
        [{ tag: "hr" }],
        [{ tag: "code_block", language: "GO", text: "func main() {}\n" }],
        [{ tag: "media", file_key: "file_1", image_key: "img_2" }],
      ],
    },
    {
      text: "**周报**\n\n**第一行** [链接](https://example.com/a)@李四\n[image]\n:SMILE:**md**\n\n---\n\n```go\nfunc main() {}\n```\n[video]",
      media: [
        { kind: "image", mimeType: "application/octet-stream", ref: { key: "img_1", type: "image" } },
        { kind: "video", ref: { key: "file_1", type: "file" } },
      ],
      mentions: [{ id: "ou_li", name: "李四", isSelf: false }],
    },
    { mentions: [mention(1, "ou_li", "李四")] },
  ),
  message(
    "post in languages",
    "post",
    {
      en_us: { title: "", content: [[{ tag: "text", text: "English" }]] },
      ja_jp: { content: [[{ tag: "text", text: "日本語" }]] },
    },
    { text: "English" },
  ),
  message("image", "image", { image_key: "img_1" }, media("image", "img_1", "image")),
  message(
    "file",
    "file",
    { file_key: "file_1", file_name: "报告.pdf" },
    media("file", "file_1", "file", { name: "报告.pdf" }),
  ),
  message("audio", "audio", { file_key: "file_1", duration: 2000 }, media("audio", "file_1", "file")),
  message(
    "video",
    "media",
    { file_key: "file_1", image_key: "img_1", file_name: "a.mp4", duration: 9 },
    media("video", "file_1", "file"),
  ),
  message("sticker", "sticker", { file_key: "file_1" }, { text: "[sticker]", media: [] }),
  message("shared chat", "share_chat", { chat_id: "oc_other" }, { text: "[shared chat oc_other]" }),
  message("forwarded", "merge_forward", "Merged and Forwarded Message", {
    text: "",
    references: [{ kind: "forward", text: "[forwarded messages]" }],
  }),
  message(
    "card",
    "interactive",
    {
      title: "Title",
      elements: [
        [
          { tag: "text", text: "Body" },
          { tag: "button", text: "Go", type: "default" },
        ],
      ],
    },
    { text: "", references: [{ kind: "forward", text: "Title\nBody\nGo" }] },
  ),
  message("a type of tomorrow", "hologram", { shape: "cube" }, { text: "[hologram message]" }),
  message(
    "mention in a group",
    "text",
    { text: "@_user_1 @_user_2 看看 @_user_12 和 @_all" },
    {
      text: "@李四 看看 @王五 和 @all",
      addressed: "mention",
      conversation: { id: "oc_group", kind: "group" },
      mentions: [
        { id: "ou_bot", name: "Signalbox", isSelf: true },
        { id: "ou_li", name: "李四", isSelf: false },
        { id: "ou_wang", name: "王五", isSelf: false },
      ],
    },
    {
      ...group,
      mentions: [
        mention(1, "ou_bot", "Signalbox"),
        mention(2, "ou_li", "李四"),
        mention(12, "ou_wang", "王五"),
      ],
    },
  ),
  message(
    "group without mention",
    "text",
    { text: "闲聊" },
    { text: "闲聊", addressed: "none", mentions: [] },
    group,
  ),
  message(
    "answer to the bot",
    "text",
    { text: "为什么" },
    {
      addressed: "reply",
      references: [{ kind: "reply", messageId: "om_by_bot", sender: { isSelf: true } }],
      address: "feishu:oc_group",
    },
    { ...group, parent_id: "om_by_bot", root_id: "om_by_bot" },
  ),
  message(
    "answer to a person",
    "text",
    { text: "为什么" },
    { addressed: "none", references: [{ kind: "reply", messageId: "om_by_person" }] },
    { ...group, parent_id: "om_by_person", root_id: "om_by_person" },
  ),
  message(
    "thread",
    "text",
    { text: "在话题里" },
    { conversation: { id: "oc_group", threadId: "omt_1" }, address: "feishu:oc_group/om_by_person" },
    { ...group, parent_id: "om_by_person", root_id: "om_by_person", thread_id: "omt_1" },
  ),
  message(
    "topic group",
    "text",
    { text: "新话题" },
    {
      conversation: { id: "oc_topics", kind: "group", threadId: "omt_2" },
      address: "feishu:oc_topics/om_topic_group",
    },
    { chat_id: "oc_topics", chat_type: "topic_group", thread_id: "omt_2" },
  ),
  {
    name: "recalled",
    payload: {
      schema: "2.0",
      header: header("im.message.recalled_v1", "ev_recalled"),
      event: {
        message_id: "om_1",
        chat_id: "oc_direct",
        recall_time: "1767225601000",
        recall_type: "message_owner",
      },
    },
    events: [{ type: "deleted", eventId: "ev_recalled", messageId: "om_1", timestamp: 1767225601000 }],
  },
  {
    name: "reaction",
    payload: {
      schema: "2.0",
      header: header("im.message.reaction.created_v1", "ev_reaction"),
      event: {
        message_id: "om_by_bot",
        reaction_type: { emoji_type: "THUMBSUP" },
        operator_type: "user",
        user_id: { union_id: "on_1", user_id: "e33ggbyz", open_id: "ou_sender" },
        action_time: "1767225601000",
      },
    },
    events: [
      {
        type: "reaction",
        emoji: "👍",
        added: true,
        messageId: "om_by_bot",
        conversation: { id: "oc_group", kind: "group" },
        sender: { id: "ou_sender" },
      },
    ],
  },
  {
    name: "reaction of the bot itself, to a message seen",
    payload: {
      schema: "2.0",
      header: header("im.message.reaction.created_v1", "ev_own_reaction"),
      event: {
        message_id: "om_by_person",
        reaction_type: { emoji_type: "Typing" },
        operator_type: "app",
        app_id: "cli_0123456789abcdef",
        action_time: "1767225601000",
      },
    },
    events: [{ type: "reaction", emoji: "Typing", sender: { isBot: true, isSelf: true } }],
  },
  {
    name: "reaction to a message out of sight",
    payload: {
      schema: "2.0",
      header: header("im.message.reaction.created_v1", "ev_far_reaction"),
      event: { message_id: "om_far", reaction_type: { emoji_type: "OK" }, operator_type: "user" },
    },
    events: [],
  },
  {
    name: "bot put into a group",
    payload: {
      schema: "2.0",
      header: header("im.chat.member.bot.added_v1", "ev_added"),
      event: { chat_id: "oc_group", operator_id: { open_id: "ou_sender" }, external: false, name: "项目组" },
    },
    events: [
      {
        type: "member",
        change: "joined",
        member: { id: "ou_bot", isSelf: true },
        conversation: { id: "oc_group", subject: "项目组" },
        sender: { id: "ou_sender" },
      },
    ],
  },
  {
    name: "people put into a group",
    payload: {
      schema: "2.0",
      header: header("im.chat.member.user.added_v1", "ev_users"),
      event: {
        chat_id: "oc_group",
        operator_id: { open_id: "ou_sender" },
        users: [
          { name: "李四", user_id: { open_id: "ou_li" } },
          { name: "王五", user_id: { open_id: "ou_wang" } },
        ],
      },
    },
    events: [
      { type: "member", eventId: "ev_users:ou_li", member: { id: "ou_li", name: "李四", isSelf: false } },
      { type: "member", eventId: "ev_users:ou_wang", member: { id: "ou_wang" } },
    ],
  },
  {
    name: "group renamed",
    payload: {
      schema: "2.0",
      header: header("im.chat.updated_v1", "ev_renamed"),
      event: { chat_id: "oc_group", operator_id: { open_id: "ou_sender" }, after_change: { name: "新名字" } },
    },
    events: [{ type: "lifecycle", what: "renamed", detail: { name: "新名字" } }],
  },
  {
    name: "click on a card",
    payload: {
      schema: "2.0",
      header: header("card.action.trigger", "ev_click"),
      event: {
        operator: { tenant_key: "736588c9260f175e", open_id: "ou_sender", union_id: "on_1" },
        token: "c-1",
        action: { value: { id: "allow", value: { run: 7 } }, tag: "button" },
        host: "im_message",
        context: { open_message_id: "om_by_bot", open_chat_id: "oc_group" },
      },
    },
    events: [
      {
        type: "action",
        actionId: "allow",
        value: { run: 7 },
        messageId: "om_by_bot",
        sender: { id: "ou_sender" },
      },
    ],
  },
  {
    name: "somebody read a message",
    payload: {
      schema: "2.0",
      header: header("im.message.message_read_v1", "ev_read"),
      event: { message_id_list: ["om_1"] },
    },
    events: [],
  },
  {
    name: "an event of the schema before",
    payload: {
      uuid: "ev_old",
      token: "token-of-the-app",
      ts: "1767225600.1",
      type: "event_callback",
      event: { type: "message" },
    },
    events: [],
  },
];
