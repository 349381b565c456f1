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
import { getSnowflakeTime, isSnowflake } from "../address.ts";
import { getDisplayName, readRoles } from "../people.ts";
import { parseIsoTime, readBody } from "./content.ts";
import { createBase, type DiscordFacts } from "./event-base.ts";
import { mentionsBot, type OwnIds } from "./mentions.ts";

/** Source: "Message Types". All other types are notices, for instance about joins and pins. */
const plain = 0;
const reply = 19;
/** Answers of bots to commands. */
const commandAnswers: readonly unknown[] = [20, 23];

/** Returns true if this is a message with content from someone other than the bot. */
export function hasContent(message: Payload, botId: string): boolean {
  const { type } = message;
  const isContent = type === plain || type === reply || commandAnswers.includes(type);
  return isContent && textAt(objectAt(message, "author"), "id") !== botId;
}

/** Returns true if a message replies to another one. A forward is not a reply. */
export function isReply({ type }: Payload): boolean {
  return type === reply;
}

/** Returns `undefined` for a malformed message. */
export function readMessage(message: Payload, facts: DiscordFacts, own: OwnIds): MessageEvent | undefined {
  const messageId = textAt(message, "id");
  const sender = readAuthor(message, own.botId);
  if (messageId === undefined || sender === undefined) return undefined;
  const body = readBody(message, own);
  return {
    ...createBase(facts, sender),
    ...body,
    type: "message",
    messageId,
    eventId: `message:${messageId}`,
    addressed: getAddressed(message, body, facts.conversation, own),
    timestamp: parseIsoTime(message, "timestamp") ?? getSnowflakeTime(messageId) ?? facts.now,
  };
}

/** Returns `undefined` for a malformed message. */
export function readEdited(message: Payload, facts: DiscordFacts, own: OwnIds): EditedEvent | undefined {
  const messageId = textAt(message, "id");
  const sender = readAuthor(message, own.botId);
  const editedAt = parseIsoTime(message, "edited_timestamp");
  if (messageId === undefined || sender === undefined || editedAt === undefined) return undefined;
  const body = readBody(message, own);
  return {
    ...createBase(facts, sender),
    ...body,
    type: "edited",
    messageId,
    sentAt: getSnowflakeTime(messageId),
    eventId: `edited:${messageId}:${editedAt}`,
    addressed: getAddressed(message, body, facts.conversation, own),
    timestamp: editedAt,
  };
}

export function readDeleted(messageId: string, facts: DiscordFacts): DeletedEvent {
  return { ...createBase(facts, NO_SENDER), type: "deleted", messageId, eventId: `deleted:${messageId}` };
}

/** Returns `undefined` for a malformed reaction. */
export function readReaction(
  payload: Payload,
  facts: DiscordFacts,
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
    ...createBase(facts, { id: userId, isBot, isSelf }),
    type: "reaction",
    messageId,
    emoji: id === undefined ? name : `${name}:${id}`,
    added,
  };
}

const NO_SENDER: Sender = { id: "", isBot: false, isSelf: false };

function readAuthor(message: Payload, botId: string): Sender | undefined {
  const author = objectAt(message, "author");
  const member = objectAt(message, "member");
  const id = textAt(author, "id");
  if (!isSnowflake(id)) return undefined;
  return createSender(author, member, { botId, isBot: textAt(message, "webhook_id") !== undefined });
}

/** Creates a sender from a user payload and its member payload. */
export function createSender(
  user: Payload,
  member: Payload,
  { botId, isBot = false }: { readonly botId: string; readonly isBot?: boolean },
): Sender {
  const id = textAt(user, "id") ?? "";
  const name = textAt(member, "nick") ?? getDisplayName(user);
  const roles = readRoles(member);
  return {
    id,
    isBot: isBot || user["bot"] === true || id === botId,
    isSelf: id === botId,
    name,
    roles: roles.length === 0 ? undefined : roles,
  };
}

/**
 * Returns how the message addresses the bot. A reply whose only mention is its automatic ping counts as a
 * reply.
 */
function getAddressed(
  message: Payload,
  { mentions }: Pick<MessageEvent, "mentions">,
  conversation: Conversation,
  own: OwnIds,
): MessageEvent["addressed"] {
  if (conversation.kind === "direct") return "dm";
  const isMentioned = mentions.some(({ isSelf }) => isSelf);
  const answersBot = textAt(objectAt(objectAt(message, "referenced_message"), "author"), "id") === own.botId;
  if (isMentioned && (!answersBot || mentionsBot(textAt(message, "content") ?? "", own))) return "mention";
  return answersBot ? "reply" : "none";
}
