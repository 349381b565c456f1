import {
  type Conversation,
  type DeletedEvent,
  type EditedEvent,
  type MessageEvent,
  objectAt,
  type Payload,
  type ReactionEvent,
  type Sender,
  textAt,
} from "@signalbox/channel";
import { isSnowflake, timeOf } from "../address.ts";
import { nameOf, rolesOf } from "../people.ts";
import { readBody } from "./content.ts";
import { baseOf, type EventFacts } from "./event-base.ts";
import { callsByName, type OwnIds } from "./mentions.ts";

/** Source: Discord's page on message types. The others are notices: somebody joined, a message was pinned. */
const plain = 0;
const reply = 19;

/** Whether somebody says something: not a notice, and not the bot itself. */
export function isSpoken(message: Payload, botId: string): boolean {
  const { type } = message;
  return (type === plain || type === reply) && textAt(objectAt(message, "author"), "id") !== botId;
}

/** Undefined for what cannot be read. */
export function readMessage(message: Payload, facts: EventFacts, own: OwnIds): MessageEvent | undefined {
  const messageId = textAt(message, "id");
  const sender = readAuthor(message, own.botId);
  if (messageId === undefined || sender === undefined) return undefined;
  const body = readBody(message, own);
  return {
    ...baseOf(facts, sender),
    ...body,
    type: "message",
    messageId,
    eventId: `message:${messageId}`,
    addressed: addressedBy(message, body, facts.conversation, own),
    timestamp: isoTime(message, "timestamp") ?? timeOf(messageId) ?? facts.now,
  };
}

/** Undefined for what cannot be read. */
export function readEdited(message: Payload, facts: EventFacts, own: OwnIds): EditedEvent | undefined {
  const messageId = textAt(message, "id");
  const sender = readAuthor(message, own.botId);
  const editedAt = isoTime(message, "edited_timestamp");
  if (messageId === undefined || sender === undefined || editedAt === undefined) return undefined;
  const body = readBody(message, own);
  return {
    ...baseOf(facts, sender),
    ...body,
    type: "edited",
    messageId,
    eventId: `edited:${messageId}:${editedAt}`,
    addressed: addressedBy(message, body, facts.conversation, own),
    timestamp: editedAt,
  };
}

export function readDeleted(messageId: string, facts: EventFacts): DeletedEvent {
  return { ...baseOf(facts, nobody), type: "deleted", messageId, eventId: `deleted:${messageId}` };
}

/** Undefined for what cannot be read. */
export function readReaction(
  payload: Payload,
  facts: EventFacts,
  { botId, added }: { readonly botId: string; readonly added: boolean },
): ReactionEvent | undefined {
  const [messageId, userId] = [textAt(payload, "message_id"), textAt(payload, "user_id")];
  const emoji = objectAt(payload, "emoji");
  const [name, id] = [textAt(emoji, "name"), textAt(emoji, "id")];
  if (messageId === undefined || userId === undefined || name === undefined) return undefined;
  const member = objectAt(payload, "member");
  const isSelf = userId === botId;
  const isBot = isSelf || objectAt(member, "user")["bot"] === true;
  return {
    ...baseOf(facts, { id: userId, isBot, isSelf }),
    type: "reaction",
    messageId,
    emoji: id === undefined ? name : `${name}:${id}`,
    added,
  };
}

const nobody: Sender = { id: "", isBot: false, isSelf: false };

function readAuthor(message: Payload, botId: string): Sender | undefined {
  const author = objectAt(message, "author");
  const member = objectAt(message, "member");
  const id = textAt(author, "id");
  if (!isSnowflake(id)) return undefined;
  return personOf(author, member, { botId, isBot: textAt(message, "webhook_id") !== undefined });
}

/** Who did something, from the payload of a user and of the member that the user is. */
export function personOf(
  user: Payload,
  member: Payload,
  { botId, isBot = false }: { readonly botId: string; readonly isBot?: boolean },
): Sender {
  const id = textAt(user, "id") ?? "";
  const name = textAt(member, "nick") ?? nameOf(user);
  const roles = rolesOf(member);
  return {
    id,
    isBot: isBot || user["bot"] === true || id === botId,
    isSelf: id === botId,
    ...(name === undefined ? {} : { name }),
    ...(roles.length === 0 ? {} : { roles }),
  };
}

/** A reply that calls the bot only because it answers it is a reply. */
function addressedBy(
  message: Payload,
  { mentions }: Pick<MessageEvent, "mentions">,
  conversation: Conversation,
  own: OwnIds,
): MessageEvent["addressed"] {
  if (conversation.kind === "direct") return "dm";
  const isMentioned = mentions.some(({ isSelf }) => isSelf);
  const answersBot = textAt(objectAt(objectAt(message, "referenced_message"), "author"), "id") === own.botId;
  if (isMentioned && (!answersBot || callsByName(textAt(message, "content") ?? "", own))) return "mention";
  return answersBot ? "reply" : "none";
}

/** A moment that Discord writes as ISO 8601, in milliseconds since the epoch. */
function isoTime(payload: Payload, key: string): number | undefined {
  const time = Date.parse(textAt(payload, key) ?? "");
  return time > 1e12 && time < 1e14 ? time : undefined;
}
