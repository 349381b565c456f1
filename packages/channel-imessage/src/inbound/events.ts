import {
  type Conversation,
  type EventFacts,
  eventBase,
  type InboundEvent,
  normalizeLineEnds,
  type Reference,
  type Sender,
} from "@signalbox/channel";
import { addressCodec, type IMessageAddress, isPersonId } from "../address.ts";
import type { Row } from "../row.ts";

/** Characters that Messages puts at the places of attachments and of apps. */
const PLACEHOLDERS = /[\ufffc\ufffd]/g;

/** Converts a row to events. Returns an empty list if it needs no reaction. */
export function toEvents(row: Row, facts: EventFacts): readonly InboundEvent[] {
  const { chat, guid } = row;
  const sender = readSender(row, facts.botId);
  if (chat === undefined || sender === undefined || guid === "") return [];
  const base = eventBase("imessage", facts, {
    eventId: guid,
    conversation: readConversation(chat, row),
    address: addressCodec.encode(chat),
    sender,
    timestamp: row.at,
    payload: row,
  });
  const { tapback } = row;
  if (tapback !== undefined)
    return [
      { ...base, type: "reaction", messageId: tapback.guid, emoji: tapback.emoji, added: tapback.added },
    ];
  const text = normalizeLineEnds(row.text.replace(PLACEHOLDERS, "")).trim();
  if (text === "" && row.media.length === 0) return [];
  const references = readReply(row, facts.botId);
  const isReply = base.addressed === "none" && references?.[0]?.sender?.isSelf === true;
  const addressed = isReply ? "reply" : base.addressed;
  return [
    {
      ...base,
      type: "message",
      messageId: guid,
      addressed,
      text,
      media: row.media,
      mentions: [],
      references,
    },
  ];
}

/** The sender of some messages of the account is empty or the recipient, so `isFromMe` decides. */
function readSender({ sender, senderName, isFromMe }: Row, botId: string): Sender | undefined {
  if (isFromMe) return { id: botId, isBot: true, isSelf: true };
  if (!isPersonId(sender)) return undefined;
  return { id: sender, name: senderName, isBot: false, isSelf: false };
}

function readConversation(chat: IMessageAddress, { chatName, chatGuid }: Row): Conversation {
  if ("group" in chat)
    return {
      id: chat.group,
      kind: "group",
      otherIds: chatGuid === "" ? undefined : [chatGuid],
      subject: chatName,
    };
  return { id: chat.person, kind: "direct" };
}

function readReply({ reply }: Row, botId: string): readonly Reference[] | undefined {
  if (reply === undefined) return undefined;
  const { guid, text, sender } = reply;
  // The sender of the account's own messages is empty.
  const isSelf = sender === "" || sender === botId;
  return [
    {
      kind: "reply",
      messageId: guid,
      sender: isSelf ? { id: botId, isSelf, isBot: true } : sender === undefined ? undefined : { id: sender },
      text: text === undefined ? undefined : normalizeLineEnds(text.replace(PLACEHOLDERS, "")).trim(),
    },
  ];
}
