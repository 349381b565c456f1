import {
  type ActionEvent,
  type Conversation,
  type ConversationKind,
  type EventBase,
  type EventFacts,
  eventBase,
  type InboundEvent,
  type Mention,
  type MessageEvent,
  objectAt,
  objectsAt,
  type Payload,
  type Reference,
  type Sender,
  textAt,
  timeAt,
  toJson,
} from "@signalbox/channel";
import { addressCodec, idIn } from "../address.ts";
import { emojiOf } from "../emoji.ts";
import { readCallback, readText } from "../outbound/buttons.ts";
import type { EarlierMessage, Place } from "../places.ts";
import { readContent } from "./content.ts";
import type { EventEnvelope } from "./envelope.ts";
import { readMentions, writeMentions } from "./mentions.ts";
import { editedType } from "./missed.ts";

/** Facts that the event does not contain. `botId` is the app's id. */
export interface Facts extends EventFacts {
  /** The bot's open id, if known. */
  readonly selfId: string | undefined;
  /** The message that this one replies to, if there is one and it could be looked up. */
  readonly answered: EarlierMessage | undefined;
  /** The first message of its thread. See `getThreadStart`. */
  readonly threadStart: EarlierMessage | undefined;
  /** The content of a merged forward or of a card, if the message is a readable one. */
  readonly forwarded: string | undefined;
  /** The chat, for events that contain only a message id. */
  readonly place: Place | undefined;
}

/** Returns the message of an event. */
export function messageOf({ type, event }: EventEnvelope): Payload | undefined {
  return type === "im.message.receive_v1" || type === editedType ? objectAt(event, "message") : undefined;
}

/** Returns the id of the first message of the thread, unless the message itself is that message or replies to it. */
export function getThreadStart(message: Payload): string | undefined {
  const rootId = textAt(message, "root_id");
  const isKnown = rootId === textAt(message, "message_id") || rootId === textAt(message, "parent_id");
  return textAt(message, "thread_id") === undefined || isKnown ? undefined : rootId;
}

/** Returns the chat id of an event. */
export function chatOf(envelope: EventEnvelope): string | undefined {
  const { event } = envelope;
  return (
    textAt(messageOf(envelope) ?? event, "chat_id") ?? textAt(objectAt(event, "context"), "open_chat_id")
  );
}

/**
 * Converts an event to inbound events. Returns none for an event that is irrelevant to the bot, and `undefined` for a
 * malformed one. Sources: the open platform's list of `im` events and its page on card callbacks.
 */
export function readEvent(envelope: EventEnvelope, facts: Facts): readonly InboundEvent[] | undefined {
  switch (envelope.type) {
    case "im.message.receive_v1":
      return one(readMessage(envelope, facts));
    case editedType:
      return one(readEdit(envelope, facts));
    case "im.message.recalled_v1":
      return one(readRecall(envelope, facts));
    case "im.message.reaction.created_v1":
    case "im.message.reaction.deleted_v1":
      // The bot cannot access the message.
      return facts.place === undefined ? [] : one(readReaction(envelope, facts.place, facts));
    case "card.action.trigger":
      return one(readAction(envelope, facts));
    case "im.chat.member.bot.added_v1":
    case "im.chat.member.bot.deleted_v1":
    case "im.chat.member.user.added_v1":
    case "im.chat.member.user.deleted_v1":
      return readMembers(envelope, facts);
    case "im.chat.disbanded_v1":
    case "im.chat.updated_v1":
      return readChat(envelope, facts);
    default:
      return [];
  }
}

function one(event: InboundEvent | undefined): readonly InboundEvent[] | undefined {
  return event === undefined ? undefined : [event];
}

/** Returns the current version of a message. */
function readEdit(envelope: EventEnvelope, facts: Facts): InboundEvent | undefined {
  const message = readMessage(envelope, facts);
  return (
    message && {
      ...message,
      type: "edited",
      timestamp: envelope.at ?? message.timestamp,
      sentAt: message.timestamp,
    }
  );
}

function readMessage(envelope: EventEnvelope, facts: Facts): MessageEvent | undefined {
  const message = objectAt(envelope.event, "message");
  const messageId = textAt(message, "message_id");
  const chatId = textAt(message, "chat_id");
  const type = textAt(message, "message_type");
  const sender = readSender(objectAt(envelope.event, "sender"), facts);
  if (messageId === undefined || chatId === undefined || type === undefined || sender === undefined)
    return undefined;
  const content = readContent(
    type,
    typeof message["content"] === "string" ? message["content"] : "",
    messageId,
  );
  if (content === undefined) return undefined;
  const kind = message["chat_type"] === "p2p" ? "direct" : "group";
  const threadId = textAt(message, "thread_id");
  const rootId = textAt(message, "root_id");
  const parentId = textAt(message, "parent_id");
  const startId = getThreadStart(message);
  const mentions = readMentions(message, facts.selfId);
  // Only apps can create cards, so a card from a person is a forward.
  const isForward = content.forwarded || (type === "interactive" && !sender.isBot);
  const text = type === "interactive" ? (facts.forwarded ?? content.text) : content.text;
  const threaded = threadId !== undefined || message["chat_type"] === "topic_group";
  const conversation = { id: chatId, kind, threadId } as const;
  const base = common(envelope, facts, conversation, sender, threaded ? (rootId ?? messageId) : undefined);
  return {
    ...base,
    eventId: envelope.eventId ?? messageId,
    timestamp: timeAt(message, "create_time") ?? base.timestamp,
    type: "message",
    messageId,
    addressed: addressedIn(kind, mentions, facts),
    text: isForward ? "" : writeMentions(text, mentions),
    media: content.media,
    mentions: mentions.map(({ key: _key, ...mention }) => mention),
    references: [
      ...(startId === undefined ? [] : [readEarlier("thread", startId, facts.threadStart)]),
      ...(parentId === undefined ? [] : [readEarlier("reply", parentId, facts.answered)]),
      ...(isForward ? [{ kind: "forward", text: facts.forwarded ?? content.text } as const] : []),
    ],
  };
}

function readEarlier(
  kind: "thread" | "reply",
  messageId: string,
  message: EarlierMessage | undefined,
): Reference {
  const { senderId, text = "", media } = message?.content ?? {};
  const author = senderId === undefined ? undefined : { id: senderId };
  return {
    kind,
    messageId,
    text: text || undefined,
    media,
    sender: message?.own === true ? { isSelf: true } : author,
  };
}

function addressedIn(
  kind: ConversationKind,
  mentions: readonly Mention[],
  { answered }: Facts,
): MessageEvent["addressed"] {
  if (kind === "direct") return "dm";
  if (mentions.some(({ isSelf }) => isSelf)) return "mention";
  return answered?.own === true ? "reply" : "none";
}

function readRecall(envelope: EventEnvelope, facts: Facts): InboundEvent | undefined {
  const messageId = textAt(envelope.event, "message_id");
  const chatId = textAt(envelope.event, "chat_id");
  if (messageId === undefined || chatId === undefined) return undefined;
  const conversation = { id: chatId, kind: facts.place?.kind ?? "group" } as const;
  const base = common(envelope, facts, conversation, nobody);
  return {
    ...base,
    type: "deleted",
    messageId,
    eventId: envelope.eventId ?? `recalled:${messageId}`,
    timestamp: timeAt(envelope.event, "recall_time") ?? base.timestamp,
  };
}

function readReaction(
  envelope: EventEnvelope,
  { chatId, kind }: Place,
  facts: Facts,
): InboundEvent | undefined {
  const { event } = envelope;
  const messageId = textAt(event, "message_id");
  const type = textAt(objectAt(event, "reaction_type"), "emoji_type");
  if (messageId === undefined || type === undefined) return undefined;
  const byApp = event["operator_type"] === "app";
  const appId = textAt(event, "app_id") ?? "";
  const app = { id: appId, isBot: true, isSelf: appId === facts.botId };
  const sender = byApp ? app : (personAt(event, "user_id", facts, false) ?? nobody);
  const base = common(envelope, facts, { id: chatId, kind }, sender);
  return {
    ...base,
    type: "reaction",
    messageId,
    emoji: emojiOf(type),
    added: envelope.type === "im.message.reaction.created_v1",
    timestamp: timeAt(event, "action_time") ?? base.timestamp,
  };
}

function readAction(envelope: EventEnvelope, facts: Facts): InboundEvent | undefined {
  const { event } = envelope;
  const operatorId = textAt(objectAt(event, "operator"), "open_id");
  const context = objectAt(event, "context");
  const messageId = textAt(context, "open_message_id");
  const chatId = textAt(context, "open_chat_id");
  const action = objectAt(event, "action");
  if (operatorId === undefined || chatId === undefined) return undefined;
  const sender = { id: operatorId, isBot: false, isSelf: false };
  const conversation = { id: chatId, kind: facts.place?.kind ?? "group" } as const;
  const text = readText(objectAt(action, "form_value"));
  return {
    ...common(envelope, facts, conversation, sender),
    type: "action",
    messageId,
    ...(readCallback(action["value"], textAt(action, "option")) ?? foreignAction(action)),
    text,
  };
}

/** Reads the action of a card that this channel did not create. */
function foreignAction(action: Payload): Pick<ActionEvent, "actionId" | "value"> {
  const value = toJson(action["value"]);
  const actionId = textAt(action, "name") ?? textAt(action, "tag") ?? "";
  return value === undefined ? { actionId } : { actionId, value };
}

/** Reads the deletion or a new name of a chat. Ignores other changes. */
function readChat(envelope: EventEnvelope, facts: Facts): readonly InboundEvent[] | undefined {
  const { event, type } = envelope;
  const id = textAt(event, "chat_id");
  if (id === undefined) return undefined;
  const name = textAt(objectAt(event, "after_change"), "name");
  const lifecycle = (conversation: Conversation) =>
    ({ ...common(envelope, facts, conversation, operator(event)), type: "lifecycle" }) as const;
  if (type === "im.chat.disbanded_v1") return [{ ...lifecycle({ id, kind: "group" }), what: "removed" }];
  if (name === undefined) return [];
  return [{ ...lifecycle({ id, kind: "group", subject: name }), what: "renamed", detail: { name } }];
}

function readMembers(envelope: EventEnvelope, facts: Facts): readonly InboundEvent[] | undefined {
  const { event, type } = envelope;
  const chatId = textAt(event, "chat_id");
  if (chatId === undefined) return undefined;
  const name = textAt(event, "name");
  const conversation = {
    id: chatId,
    kind: "group",
    subject: name,
  } as const;
  const base = common(envelope, facts, conversation, operator(event));
  const change = type.endsWith("added_v1") ? "joined" : "left";
  if (type.includes(".bot.")) {
    return [{ ...base, type: "member", change, member: { id: facts.selfId ?? "", isSelf: true } }];
  }
  return objectsAt(event, "users").flatMap((user) => {
    const id = textAt(objectAt(user, "user_id"), "open_id");
    const member = textAt(user, "name");
    if (id === undefined) return [];
    return [
      {
        ...base,
        eventId: `${base.eventId}:${id}`,
        type: "member" as const,
        change,
        member: { id, isSelf: false, name: member },
      },
    ];
  });
}

const nobody: Sender = { id: "", isBot: false, isSelf: false };

function operator(event: Payload): Sender {
  const id = textAt(objectAt(event, "operator_id"), "open_id");
  return id === undefined ? nobody : { id, isBot: false, isSelf: false };
}

function readSender(sender: Payload, facts: Facts): Sender | undefined {
  return personAt(sender, "sender_id", facts, sender["sender_type"] !== "user");
}

function personAt(value: Payload, key: string, facts: Facts, isBot: boolean): Sender | undefined {
  const ids = objectAt(value, key);
  const id = idIn(ids);
  return id === undefined ? undefined : { id, isBot, isSelf: id === facts.selfId };
}

function common(
  envelope: EventEnvelope,
  facts: Facts,
  conversation: Conversation,
  sender: Sender,
  rootId?: string,
): EventBase {
  const { type, eventId, at, tenant, raw } = envelope;
  return eventBase("feishu", facts, {
    eventId: eventId ?? `${type}:${conversation.id}:${sender.id}:${at ?? ""}`,
    conversation: tenant === undefined ? conversation : { ...conversation, teamId: tenant },
    address: addressCodec.encode({ id: conversation.id, rootId }),
    sender,
    timestamp: at,
    payload: raw,
  });
}
