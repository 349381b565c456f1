import type { RecordedPayload } from "@signalbox/channel/testkit";
import { dataEnvelope, signalPerson, syncEnvelope, textEnvelope } from "@signalbox/testkit/signal";
import { account, group } from "./harness.ts";

const sentAt = 1_760_000_000_000;
const { uuid, number } = signalPerson;
const self = { uuid: "99999999-aaaa-4aaa-8aaa-000000000009", number: account };
const messageId = `${sentAt}:${uuid}`;
const direct = { timestamp: sentAt };
const inGroup = { timestamp: sentAt, groupId: group };
const placeholder = "\ufffc";

function payload(envelope: object, more: object = {}): RecordedPayload["payload"] {
  return JSON.parse(JSON.stringify({ account, envelope, ...more }));
}

function mention(of: { readonly uuid: string; readonly number?: string }, start: number) {
  return { name: of.number ?? of.uuid, number: of.number ?? null, uuid: of.uuid, start, length: 1 };
}

/** Messages in the shapes of signal-cli's JSON records. */
export const recorded: readonly RecordedPayload[] = [
  {
    name: "a direct message",
    payload: payload(textEnvelope("你好 *there*", direct)),
    events: [
      {
        type: "message",
        eventId: messageId,
        messageId,
        botId: account,
        text: "你好 *there*",
        addressed: "dm",
        timestamp: sentAt,
        address: `signal:${uuid}`,
        conversation: { id: uuid, kind: "direct", otherIds: [number] },
        sender: { id: uuid, name: "张三", isBot: false, isSelf: false },
      },
    ],
  },
  {
    name: "a person whose number is hidden",
    payload: payload(textEnvelope("hello", { ...direct, from: { uuid: signalPerson.uuid } })),
    events: [{ type: "message", sender: { id: uuid }, conversation: { id: uuid } }],
  },
  {
    name: "a mention of the bot in a group, with styles",
    payload: payload(
      textEnvelope(`${placeholder} run ls and read bold words`, {
        ...inGroup,
        fields: {
          mentions: [mention(self, 0)],
          textStyles: [
            { style: "MONOSPACE", start: 6, length: 2 },
            { style: "BOLD", start: 18, length: 5 },
            { style: "SPOILER", start: 23, length: 5 },
          ],
        },
      }),
    ),
    events: [
      {
        type: "message",
        addressed: "mention",
        text: "run `ls` and read **bold** words",
        address: `signal:group/${encodeURIComponent(group)}`,
        conversation: { id: group, kind: "group", subject: "Team" },
        mentions: [{ id: account, isSelf: true }],
      },
    ],
  },
  {
    name: "a mention of another person",
    payload: payload(
      textEnvelope(`ask ${placeholder} about it`, {
        ...inGroup,
        fields: { mentions: [mention(signalPerson, 4)] },
      }),
    ),
    events: [
      {
        type: "message",
        addressed: "none",
        text: "ask @张三 about it",
        mentions: [{ id: uuid, name: "张三" }],
      },
    ],
  },
  {
    name: "a photo with a caption, and a voice message without an id",
    payload: payload(
      textEnvelope("see this", {
        ...direct,
        fields: {
          attachments: [
            { contentType: "image/jpeg", filename: "a.jpg", id: "Ab_1-c.jpg", size: 90_000, caption: null },
            { contentType: "audio/aac", filename: null, id: null, size: 3, caption: null },
          ],
        },
      }),
    ),
    events: [
      {
        type: "message",
        text: "see this",
        media: [
          {
            kind: "image",
            mimeType: "image/jpeg",
            name: "a.jpg",
            size: 90_000,
            ref: { id: "Ab_1-c.jpg", mimeType: "image/jpeg", from: { person: uuid } },
          },
          { kind: "audio", mimeType: "audio/aac", ref: null },
        ],
      },
    ],
  },
  {
    name: "a video without words",
    payload: payload(
      textEnvelope("", {
        ...direct,
        fields: {
          message: null,
          attachments: [
            { contentType: "video/mp4", filename: null, id: "v.mp4", size: 9, caption: "old caption" },
          ],
        },
      }),
    ),
    events: [{ type: "message", text: "old caption", media: [{ kind: "video" }] }],
  },
  {
    name: "a sticker",
    payload: payload(
      dataEnvelope({ sticker: { packId: "0123456789abcdef0123456789abcdef", stickerId: 3 } }, direct),
    ),
    events: [
      {
        type: "message",
        text: "",
        media: [{ kind: "sticker", ref: { packId: "0123456789abcdef0123456789abcdef", stickerId: 3 } }],
      },
    ],
  },
  {
    name: "an answer to a message of the bot, with a picture",
    payload: payload(
      textEnvelope("is that so?", {
        ...inGroup,
        fields: {
          quote: {
            id: sentAt - 5_000,
            author: account,
            authorNumber: account,
            authorUuid: self.uuid,
            text: "the harbour is closed",
            attachments: [
              {
                contentType: "image/png",
                filename: "map.png",
                thumbnail: { contentType: "image/jpeg", filename: null, id: "thumb.jpg", size: 3 },
              },
            ],
          },
        },
      }),
    ),
    events: [
      {
        type: "message",
        addressed: "reply",
        text: "is that so?",
        media: [],
        references: [
          {
            kind: "reply",
            messageId: `${sentAt - 5_000}:${account}`,
            sender: { id: account, isSelf: true },
            text: "the harbour is closed",
            media: [{ kind: "image", ref: { id: "thumb.jpg" } }],
          },
        ],
      },
    ],
  },
  {
    name: "a reaction, and one that was taken back",
    payload: payload(
      dataEnvelope(
        {
          reaction: {
            emoji: "👍",
            targetAuthor: account,
            targetAuthorNumber: account,
            targetAuthorUuid: self.uuid,
            targetSentTimestamp: sentAt - 9,
            isRemove: true,
          },
        },
        direct,
      ),
    ),
    events: [{ type: "reaction", emoji: "👍", added: false, messageId: `${sentAt - 9}:${account}` }],
  },
  {
    name: "an edit",
    payload: payload({
      ...textEnvelope("", direct),
      dataMessage: undefined,
      editMessage: {
        targetSentTimestamp: sentAt - 60_000,
        dataMessage: { timestamp: sentAt, message: "corrected", expiresInSeconds: 0 },
      },
    }),
    events: [
      {
        type: "edited",
        text: "corrected",
        messageId: `${sentAt - 60_000}:${uuid}`,
        sentAt: sentAt - 60_000,
        timestamp: sentAt,
      },
    ],
  },
  {
    name: "a deletion by the author",
    payload: payload(dataEnvelope({ remoteDelete: { timestamp: sentAt - 7 } }, direct)),
    events: [{ type: "deleted", messageId: `${sentAt - 7}:${uuid}` }],
  },
  {
    name: "a deletion by an administrator",
    payload: payload(
      dataEnvelope(
        {
          adminDelete: {
            targetAuthor: account,
            targetAuthorNumber: account,
            targetAuthorUuid: self.uuid,
            targetSentTimestamp: sentAt - 7,
          },
        },
        inGroup,
      ),
    ),
    events: [{ type: "deleted", messageId: `${sentAt - 7}:${account}`, sender: { id: uuid } }],
  },
  {
    name: "a shared contact and a poll",
    payload: payload(
      dataEnvelope(
        {
          contacts: [
            {
              name: {
                nickname: null,
                given: "Ada",
                family: "Lovelace",
                prefix: null,
                suffix: null,
                middle: null,
              },
              phone: [{ value: "+441234567", type: "HOME", label: null }],
              organization: null,
            },
          ],
          pollCreate: { question: "Lunch?", allowMultiple: false, options: ["Noodles", "Rice"] },
        },
        direct,
      ),
    ),
    events: [
      { type: "message", text: "Contact: Ada Lovelace +441234567\nPoll: Lunch?\n1. Noodles\n2. Rice" },
    ],
  },
  {
    name: "a message from another device of the account",
    payload: payload(syncEnvelope("by hand", self, { timestamp: sentAt })),
    events: [
      {
        type: "message",
        text: "by hand",
        messageId: `${sentAt}:${account}`,
        conversation: { id: uuid, kind: "direct" },
        sender: { id: account, isBot: true, isSelf: true },
      },
    ],
  },
  {
    name: "a change of a group without words",
    payload: payload(
      dataEnvelope(
        { groupInfo: { groupId: group, groupName: "Team", revision: 2, type: "UPDATE" } },
        inGroup,
      ),
    ),
    events: [],
  },
  {
    name: "a change of the time after which messages disappear",
    payload: payload(dataEnvelope({ isExpirationUpdate: true, expiresInSeconds: 60 }, direct)),
    events: [],
  },
  {
    name: "a receipt",
    payload: payload({
      ...textEnvelope("", direct),
      dataMessage: undefined,
      receiptMessage: {
        when: sentAt,
        isDelivery: true,
        isRead: false,
        isViewed: false,
        timestamps: [sentAt - 9],
      },
    }),
    events: [],
  },
  {
    name: "a typing indicator",
    payload: payload({
      ...textEnvelope("", direct),
      dataMessage: undefined,
      typingMessage: { action: "STARTED", timestamp: sentAt },
    }),
    events: [],
  },
  {
    name: "a message that signal-cli could not decrypt",
    payload: payload(
      { ...textEnvelope("", direct), dataMessage: undefined },
      { exception: { message: "untrusted identity", type: "UntrustedIdentityException" } },
    ),
    events: [],
  },
];
