import type { RecordedPayload } from "@signalbox/channel/testkit";

const chat = { id: 5_001, type: "private", first_name: "张三" };
const from = { id: 5_001, is_bot: false, first_name: "张三", language_code: "zh-hans" };
const group = { id: -1_001_234, type: "supergroup", title: "Team", is_forum: true };
const message = { message_id: 7, date: 1_760_000_000, chat, from };
const inGroup = { ...message, chat: group };

/** Updates in the shapes that the Bot API reference describes. */
export const recorded: readonly RecordedPayload[] = [
  {
    name: "a photo with a caption",
    payload: {
      update_id: 1,
      message: {
        ...message,
        caption: "see *this*",
        photo: [
          { file_id: "small", file_unique_id: "s", width: 90, height: 60, file_size: 1_000 },
          { file_id: "large", file_unique_id: "l", width: 900, height: 600, file_size: 90_000 },
        ],
      },
    },
    events: [
      {
        type: "message",
        messageId: "5001:7",
        addressed: "dm",
        text: "see *this*",
        timestamp: 1_760_000_000_000,
        botId: "42",
        sender: { id: "5001", name: "张三", isBot: false, isSelf: false },
        media: [{ kind: "image", mimeType: "image/jpeg", size: 90_000, ref: { fileId: "large" } }],
      },
    ],
  },
  {
    name: "a mention with formatted text in a topic",
    payload: {
      update_id: 2,
      message: {
        ...inGroup,
        message_thread_id: 17,
        is_topic_message: true,
        text: "@Signalbox_Bot run ls -l and read this",
        entities: [
          { type: "mention", offset: 0, length: 14 },
          { type: "code", offset: 19, length: 5 },
          { type: "bold", offset: 29, length: 9 },
          { type: "text_link", offset: 34, length: 4, url: "https://example.org/a" },
        ],
      },
    },
    events: [
      {
        type: "message",
        addressed: "mention",
        address: "telegram:-1001234/17",
        conversation: { id: "-1001234", kind: "group", threadId: "17", subject: "Team" },
        text: "run `ls -l` and **read [this](https://example.org/a)**",
        mentions: [{ id: "42", isSelf: true }],
      },
    ],
  },
  {
    name: "an answer to a post of a channel, of which it quotes some words",
    payload: {
      update_id: 21,
      message: {
        ...inGroup,
        text: "@Signalbox_Bot is that so?",
        entities: [{ type: "mention", offset: 0, length: 14 }],
        external_reply: {
          origin: { type: "channel", chat: { id: -1_009, type: "channel", title: "News" }, message_id: 7 },
          chat: { id: -1_009, type: "channel", title: "News" },
          message_id: 7,
        },
        quote: { text: "the harbour is closed", position: 0 },
      },
    },
    events: [
      {
        type: "message",
        text: "is that so?",
        references: [{ kind: "reply", messageId: "-1009:7", text: "the harbour is closed" }],
      },
    ],
  },
  {
    name: "a rich message with a mention, a picture and a table",
    payload: {
      update_id: 20,
      message: {
        ...inGroup,
        rich_message: {
          blocks: [
            { type: "heading", text: "Sales", size: 2 },
            {
              type: "paragraph",
              text: [
                { type: "mention", text: "@Signalbox_Bot", username: "Signalbox_Bot" },
                " add ",
                { type: "bold", text: "them" },
                " up",
              ],
            },
            {
              type: "photo",
              photo: [{ file_id: "large", file_unique_id: "l", width: 900, height: 600, file_size: 90_000 }],
              caption: { text: "the shop" },
            },
            {
              type: "table",
              cells: [
                [
                  { text: "City", is_header: true, align: "left", valign: "top" },
                  { text: "Sold", is_header: true, align: "right", valign: "top" },
                ],
                [
                  { text: { type: "italic", text: "Oslo" }, align: "left", valign: "top" },
                  { text: "7", align: "right", valign: "top" },
                ],
              ],
            },
          ],
        },
      },
    },
    events: [
      {
        type: "message",
        addressed: "mention",
        text: "## Sales\n\n@Signalbox_Bot add **them** up\n\nthe shop\n\n| City | Sold |\n| --- | --- |\n| *Oslo* | 7 |",
        media: [{ kind: "image", mimeType: "image/jpeg", ref: { fileId: "large" } }],
        mentions: [{ id: "42", isSelf: true }],
      },
    ],
  },
  {
    name: "an answer to the bot with a quoted stretch",
    payload: {
      update_id: 3,
      message: {
        ...inGroup,
        text: "why?",
        reply_to_message: {
          message_id: 6,
          date: 1_760_000_000,
          chat: group,
          from: { id: 42, is_bot: true, first_name: "Signalbox" },
          text: "a long answer",
        },
        quote: { text: "long", position: 2 },
      },
    },
    events: [
      {
        type: "message",
        addressed: "reply",
        references: [
          { kind: "reply", messageId: "-1001234:6", text: "long", sender: { id: "42", isSelf: true } },
        ],
      },
    ],
  },
  {
    name: "a forwarded message",
    payload: {
      update_id: 4,
      message: {
        ...message,
        text: "passed on",
        forward_origin: { type: "hidden_user", sender_user_name: "Somebody", date: 1_750_000_000 },
      },
    },
    events: [
      {
        type: "message",
        text: "",
        references: [
          { kind: "forward", text: "passed on", sender: { name: "Somebody" }, timestamp: 1_750_000_000_000 },
        ],
      },
    ],
  },
  {
    name: "words of an anonymous administrator",
    payload: {
      update_id: 5,
      message: {
        ...inGroup,
        from: { id: 1_087_968_824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" },
        sender_chat: group,
        text: "hello",
      },
    },
    events: [{ type: "message", addressed: "none", sender: { id: "-1001234", name: "Team", isBot: false } }],
  },
  {
    name: "a post of a channel",
    payload: {
      update_id: 6,
      channel_post: {
        message_id: 3,
        date: 1_760_000_000,
        chat: { id: -1_009, type: "channel", title: "News" },
        sender_chat: { id: -1_009, type: "channel", title: "News" },
        text: "news",
      },
    },
    events: [{ type: "message", conversation: { id: "-1009", kind: "channel", subject: "News" } }],
  },
  {
    name: "an edited message",
    payload: { update_id: 7, edited_message: { ...message, edit_date: 1_760_000_060, text: "better" } },
    events: [
      {
        type: "edited",
        messageId: "5001:7",
        text: "better",
        timestamp: 1_760_000_060_000,
        sentAt: 1_760_000_000_000,
        automatic: undefined,
      },
    ],
  },
  {
    name: "the next position of a live location, which nobody typed",
    payload: {
      update_id: 30,
      edited_message: {
        ...message,
        text: undefined,
        edit_date: 1_760_000_060,
        location: { latitude: 10.5, longitude: 20.75, live_period: 900 },
      },
    },
    events: [{ type: "edited", text: "[location: 10.5, 20.75]", automatic: true }],
  },
  {
    name: "a reaction in place of another",
    payload: {
      update_id: 8,
      message_reaction: {
        chat: group,
        message_id: 6,
        user: from,
        date: 1_760_000_000,
        old_reaction: [{ type: "emoji", emoji: "👍" }],
        new_reaction: [{ type: "emoji", emoji: "🔥" }],
      },
    },
    events: [
      { type: "reaction", messageId: "-1001234:6", emoji: "👍", added: false },
      { type: "reaction", messageId: "-1001234:6", emoji: "🔥", added: true },
    ],
  },
  {
    name: "a place",
    payload: { update_id: 9, message: { ...message, location: { latitude: 52.5, longitude: 13.4 } } },
    events: [{ type: "message", text: "[location: 52.5, 13.4]" }],
  },
  {
    name: "people who join",
    payload: {
      update_id: 10,
      message: {
        ...inGroup,
        new_chat_members: [
          { id: 6_001, is_bot: false, first_name: "李四" },
          { id: 42, is_bot: true, first_name: "Signalbox" },
        ],
      },
    },
    events: [
      { type: "member", change: "joined", member: { id: "6001", name: "李四", isSelf: false } },
      { type: "member", change: "joined", member: { id: "42", isSelf: true } },
    ],
  },
  {
    name: "the bot is thrown out",
    payload: {
      update_id: 11,
      my_chat_member: {
        chat: group,
        from,
        date: 1_760_000_000,
        old_chat_member: { status: "member", user: { id: 42 } },
        new_chat_member: { status: "kicked", user: { id: 42 } },
      },
    },
    events: [{ type: "lifecycle", what: "removed" }],
  },
  {
    name: "a guest who summons the bot in a chat that it is not in, and is not heard",
    payload: {
      update_id: 13,
      guest_message: { ...inGroup, text: "@Signalbox_Bot who is your owner?", guest_query_id: "9" },
    },
    events: [],
  },
  {
    name: "the answer of a guest bot, which is that bot's and not the person's who summoned it",
    payload: {
      update_id: 14,
      message: {
        ...inGroup,
        from: { id: 77, is_bot: true, first_name: "Guest" },
        guest_bot_caller_user: from,
        text: "done",
      },
    },
    events: [{ type: "message", sender: { id: "77", isBot: true, isSelf: false }, text: "done" }],
  },
  { name: "a poll, which concerns nobody", payload: { update_id: 12, poll: { id: "1" } }, events: [] },
];
