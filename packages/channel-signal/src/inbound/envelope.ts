import {
  type Addressed,
  type Conversation,
  type EventBase,
  type EventFacts,
  eventBase,
  type InboundEvent,
  isPayload,
  type MessageBody,
  objectAt,
  type Payload,
  type Sender,
  textAt,
} from "@signalbox/channel";
import { addressCodec, formatMessageId, personAt, type Self, type SignalAddress } from "../address.ts";
import { type BodyFacts, readBody } from "./body.ts";

export interface Facts extends EventFacts, BodyFacts {}

/** A message in an envelope, and the conversation in which it was written. */
export interface Content {
  readonly data: Payload;
  /** Time of the message that this one edits. */
  readonly edits: number | undefined;
  readonly author: string;
  readonly from: SignalAddress;
}

/**
 * Finds the message in an envelope. Returns `undefined` for receipts, typing indicators, calls and stories. Source:
 * `JsonMessageEnvelope`. A message that was sent from another device of the account is in `syncMessage.sentMessage`.
 */
export function findContent(envelope: Payload, self: Self): Content | undefined {
  const sent = objectAt(envelope, "syncMessage")["sentMessage"];
  const isSync = isPayload(sent);
  const holder = isSync ? sent : envelope;
  const edit = holder["editMessage"];
  const data = isPayload(edit) ? objectAt(edit, "dataMessage") : isSync ? sent : envelope["dataMessage"];
  const author = isSync ? self.account : personAt(envelope, "source", self);
  if (!isPayload(data) || author === undefined) return undefined;
  const group = textAt(objectAt(data, "groupInfo"), "groupId");
  const person = isSync ? personAt(sent, "destination", self) : author;
  const from = group === undefined ? person && { person } : { group };
  if (!from) return undefined;
  return {
    data,
    edits: isPayload(edit) ? timestampAt(edit, "targetSentTimestamp") : undefined,
    author,
    from,
  };
}

/** Converts an envelope to events. Returns an empty list if the envelope needs no reaction. */
export function readEnvelope(envelope: Payload, content: Content, facts: Facts): readonly InboundEvent[] {
  const { data, edits, author, from } = content;
  const timestamp = timestampAt(data, "timestamp") ?? timestampAt(envelope, "timestamp");
  if (timestamp === undefined || !isAddress(from)) return [];
  const isSelf = author === facts.self.account;
  const sender: Sender = {
    id: author,
    name: isSelf ? undefined : textAt(envelope, "sourceName"),
    isBot: isSelf,
    isSelf,
  };
  const base = eventBase("signal", facts, {
    eventId: formatMessageId(timestamp, author),
    conversation: readConversation(envelope, content),
    address: addressCodec.encode(from),
    sender,
    timestamp,
    payload: envelope,
  });
  const change = readChange(data, base, facts);
  if (change !== undefined) return change;
  const body = readBody(data, from, facts);
  if (body.text === "" && body.media.length === 0 && body.references === undefined) return [];
  const common = { ...base, addressed: getAddressed(base, body), ...body };
  if (edits === undefined)
    return [{ ...common, type: "message", messageId: formatMessageId(timestamp, author) }];
  return [{ ...common, type: "edited", messageId: formatMessageId(edits, author), sentAt: edits }];
}

function isAddress(from: SignalAddress): boolean {
  try {
    addressCodec.decode(addressCodec.encode(from));
    return true;
  } catch {
    return false;
  }
}

function readConversation(envelope: Payload, { data, from }: Content): Conversation {
  if ("group" in from)
    return { id: from.group, kind: "group", subject: textAt(objectAt(data, "groupInfo"), "groupName") };
  const number = textAt(envelope, "sourceNumber");
  const otherIds = number === undefined || number === from.person ? undefined : [number];
  return { id: from.person, kind: "direct", otherIds };
}

/** Reads a reaction or a deletion. Returns `undefined` for an ordinary message. */
function readChange(data: Payload, base: EventBase, { self }: Facts): readonly InboundEvent[] | undefined {
  const { reaction, remoteDelete, adminDelete } = data;
  if (isPayload(reaction)) {
    const messageId = readTarget(reaction, "targetAuthor", self);
    const emoji = textAt(reaction, "emoji");
    if (messageId === undefined || emoji === undefined) return [];
    return [{ ...base, type: "reaction", messageId, emoji, added: reaction["isRemove"] !== true }];
  }
  if (isPayload(remoteDelete)) {
    const deleted = timestampAt(remoteDelete, "timestamp");
    const messageId = deleted && formatMessageId(deleted, base.sender.id);
    return messageId ? [{ ...base, type: "deleted", messageId }] : [];
  }
  if (!isPayload(adminDelete)) return undefined;
  const messageId = readTarget(adminDelete, "targetAuthor", self);
  return messageId === undefined ? [] : [{ ...base, type: "deleted", messageId }];
}

function readTarget(change: Payload, prefix: string, self: Self): string | undefined {
  const author = personAt(change, prefix, self);
  const timestamp = timestampAt(change, "targetSentTimestamp");
  return author && timestamp ? formatMessageId(timestamp, author) : undefined;
}

function getAddressed({ addressed }: EventBase, { mentions, references }: MessageBody): Addressed {
  if (addressed === "dm") return addressed;
  if (mentions.some(({ isSelf }) => isSelf)) return "mention";
  return references?.[0]?.sender?.isSelf === true ? "reply" : "none";
}

/** Returns a time in milliseconds since the epoch. It is also the id of a message, so it is not rounded. */
function timestampAt(payload: Payload, key: string): number | undefined {
  const value = payload[key];
  return typeof value === "number" && Number.isSafeInteger(value) && value > 1e12 ? value : undefined;
}
