import type { RecordedPayload } from "@signalbox/channel/testkit";
import { group, person } from "./harness.ts";

const now = Date.now() - 60_000;
const created_at = new Date(now).toISOString();
const guid = "AAAA0000-0000-4000-8000-000000000001";
const direct = {
  chat_id: 4,
  chat_identifier: person,
  chat_guid: `iMessage;-;${person}`,
  chat_name: "",
  participants: [person],
  is_group: false,
  sender: person,
  is_from_me: false,
  created_at,
  attachments: [],
  reactions: [],
};
const inGroup = {
  ...direct,
  chat_identifier: group,
  chat_guid: `any;+;${group}`,
  chat_name: "Team",
  is_group: true,
};
const conversation = { id: person, kind: "direct" };

/** Messages in the format of imsg, in the shapes of its documentation. */
export const recordedByImsg: readonly RecordedPayload[] = [
  {
    name: "a direct message",
    payload: { ...direct, id: 101, guid, text: "你好\u2028there", sender_name: "张三" },
    events: [
      {
        type: "message",
        eventId: guid,
        messageId: guid,
        text: "你好\nthere",
        addressed: "dm",
        address: `imessage:${encodeURIComponent(person)}`,
        conversation,
        timestamp: now,
        sender: { id: person, name: "张三", isBot: false, isSelf: false },
      },
    ],
  },
  {
    name: "a message in a group, which is a reply to the account",
    payload: {
      ...inGroup,
      id: 102,
      guid,
      text: "is that so?",
      reply_to_guid: "p:0/BBBB",
      reply_to_text: "the harbour is closed",
      reply_to_sender: "",
    },
    events: [
      {
        type: "message",
        addressed: "reply",
        text: "is that so?",
        address: `imessage:group/${group}`,
        conversation: { id: group, kind: "group", subject: "Team", otherIds: [`any;+;${group}`] },
        references: [
          { kind: "reply", messageId: "BBBB", text: "the harbour is closed", sender: { isSelf: true } },
        ],
      },
    ],
  },
  {
    name: "a picture with words, and one that is not on the Mac",
    payload: {
      ...direct,
      id: 103,
      cursor: 104,
      guid,
      text: "\ufffc\ufffcsee this",
      attachments: [
        {
          filename: "~/Library/Messages/Attachments/a/b.heic",
          transfer_name: "b.heic",
          uti: "public.heic",
          mime_type: "image/heic",
          byte_size: 9,
          is_sticker: false,
          missing: false,
          path: "/Users/me/Library/Messages/Attachments/a/b.heic",
        },
        {
          transfer_name: "c.mov",
          mime_type: "video/quicktime",
          total_bytes: 3,
          is_sticker: false,
          missing: true,
        },
      ],
    },
    events: [
      {
        type: "message",
        text: "see this",
        media: [
          {
            kind: "image",
            mimeType: "image/heic",
            name: "b.heic",
            size: 9,
            ref: { path: "/Users/me/Library/Messages/Attachments/a/b.heic", mimeType: "image/heic" },
          },
          { kind: "video", name: "c.mov", ref: null },
        ],
      },
    ],
  },
  {
    name: "a tapback, and one that was removed",
    payload: {
      ...direct,
      id: 105,
      guid,
      text: "Removed a like",
      is_reaction: true,
      reaction_type: "like",
      is_reaction_add: false,
      reacted_to_guid: "p:0/CCCC",
    },
    events: [{ type: "reaction", messageId: "CCCC", emoji: "👍", added: false }],
  },
  {
    name: "a tapback with another emoji",
    payload: {
      ...inGroup,
      id: 106,
      guid,
      text: "",
      is_reaction: true,
      reaction_type: "custom",
      reaction_emoji: "🎉",
      is_reaction_add: true,
      reacted_to_guid: "CCCC",
    },
    events: [{ type: "reaction", messageId: "CCCC", emoji: "🎉", added: true, conversation: { id: group } }],
  },
  {
    name: "a message of the account from another device",
    payload: { ...direct, id: 107, guid, text: "by hand", sender: "", is_from_me: true },
    events: [{ type: "message", text: "by hand", conversation, sender: { isSelf: true, isBot: true } }],
  },
  {
    name: "a poll",
    payload: {
      ...direct,
      id: 108,
      guid,
      text: "",
      poll: { kind: "created", question: "Lunch?", options: [{ id: "1", text: "Noodles" }] },
    },
    events: [{ type: "message", text: "Poll: Lunch?\n1. Noodles" }],
  },
  {
    name: "a message without words",
    payload: { ...direct, id: 109, guid, text: "\ufffc" },
    events: [],
  },
  {
    name: "a message of last year, which iCloud has added",
    payload: { ...direct, id: 110, guid, text: "old", created_at: "2025-01-01T00:00:00Z" },
    events: [],
  },
  {
    name: "a message whose chat is unknown",
    payload: { ...direct, id: 111, guid, text: "x", chat_guid: "", chat_identifier: "", chat_id: 0 },
    events: [],
  },
];

const row = {
  handle: { address: person, service: "iMessage" },
  attachments: [],
  subject: null,
  error: 0,
  dateCreated: now,
  isFromMe: false,
  itemType: 0,
  associatedMessageGuid: null,
  associatedMessageType: null,
  threadOriginatorGuid: null,
  chats: [{ guid: `iMessage;-;${person}`, style: 45, displayName: "" }],
};

/** Messages in the format of BlueBubbles, in the shapes of its serializers. */
export const recordedByBlueBubbles: readonly RecordedPayload[] = [
  {
    name: "a direct message",
    payload: { ...row, guid, text: "hello" },
    events: [
      {
        type: "message",
        messageId: guid,
        text: "hello",
        conversation,
        timestamp: now,
        sender: { id: person },
      },
    ],
  },
  {
    name: "a message in a group with a subject and an attachment",
    payload: {
      ...row,
      guid,
      subject: "Look",
      text: "\ufffc",
      chats: [{ guid: `iMessage;+;${group}`, style: 43, displayName: "Team" }],
      attachments: [
        { guid: "at_0_1", mimeType: "audio/x-caf", transferName: "a.caf", totalBytes: 7, isSticker: false },
      ],
    },
    events: [
      {
        type: "message",
        text: "Look",
        conversation: { id: group, kind: "group", subject: "Team" },
        media: [{ kind: "audio", mimeType: "audio/x-caf", size: 7, ref: { attachment: "at_0_1" } }],
      },
    ],
  },
  {
    name: "a reply",
    payload: { ...row, guid, text: "yes", threadOriginatorGuid: "DDDD" },
    events: [{ type: "message", references: [{ kind: "reply", messageId: "DDDD" }] }],
  },
  {
    name: "a tapback by name",
    payload: { ...row, guid, text: "", associatedMessageGuid: "p:0/DDDD", associatedMessageType: "-love" },
    events: [{ type: "reaction", messageId: "DDDD", emoji: "❤️", added: false }],
  },
  {
    name: "a tapback by number",
    payload: { ...row, guid, text: "", associatedMessageGuid: "bp:DDDD", associatedMessageType: 2003 },
    events: [{ type: "reaction", messageId: "DDDD", emoji: "😂", added: true }],
  },
  {
    name: "a change of a group's name",
    payload: { ...row, guid, text: null, itemType: 2, groupTitle: "New" },
    events: [],
  },
];
