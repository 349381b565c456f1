import {
  type Addressed,
  type ChannelCommand,
  type InboundEvent,
  isPayload,
  type MessageBody,
  objectAt,
  objectsAt,
  type Payload,
  type Sender,
  textAt,
  timeAt,
  toJson,
} from "@signalbox/channel";
import type { Clicked } from "../outbound/buttons.ts";
import { type Read, readBody } from "./body.ts";
import { idAt, messageIdAt, nameOf, personOf, senderOf, type Where, whereOf } from "./conversation.ts";
import type { Bot } from "./text.ts";

/** What an update leaves open. */
export interface Facts {
  readonly account: string;
  readonly bot: Bot;
  /** Those that Telegram lists for people. */
  readonly commands: readonly ChannelCommand[];
  /** What was clicked, where the update is a click on one of our buttons. */
  readonly clicked?: Clicked | undefined;
  /** Milliseconds since the epoch, for updates without a time. */
  readonly now: number;
  readonly raw: boolean;
}

/**
 * What `getUpdates` and `setWebhook` are asked for. What is not named here does not come, or is passed over where a
 * webhook was registered by somebody else. Among that are the messages of guests, who summon the bot in a chat that it
 * is not in: one message answers them, for a chat of strangers to read, with no way to ask, to pair or to go on.
 */
export const updateTypes = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "callback_query",
  "message_reaction",
  "my_chat_member",
] as const;

/**
 * The events of an update, in order; none for what concerns nobody here. Undefined for what Telegram does not send.
 * Source: the Bot API's `Update`.
 */
export function readUpdate(update: Payload, facts: Facts): readonly InboundEvent[] | undefined {
  const eventId = updateIdOf(update);
  if (eventId === undefined) return undefined;
  const type = updateTypes.find((name) => isPayload(update[name]));
  if (type === undefined) return [];
  const content = objectAt(update, type);
  const reading = { eventId: String(eventId), update, facts };
  switch (type) {
    case "message":
    case "channel_post":
      return readMessage(content, reading);
    case "edited_message":
    case "edited_channel_post":
      return readEdited(content, reading);
    case "callback_query":
      return readClick(content, reading);
    case "message_reaction":
      return readReactions(content, reading);
    case "my_chat_member":
      return readOwnMembership(content, reading);
  }
}

export function updateIdOf(update: Payload): number | undefined {
  const { update_id: id } = update;
  return typeof id === "number" && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

interface Reading {
  readonly eventId: string;
  readonly update: Payload;
  readonly facts: Facts;
}

function readMessage(message: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const where = whereOf(message);
  const sender = senderOf(message, facts.bot);
  const messageId = where === undefined ? undefined : messageIdAt(message, where);
  if (where === undefined || sender === undefined || messageId === undefined) return undefined;
  const base = common(reading, where, sender, timeAt(message, "date"));
  const service = readService(message, base);
  if (service !== undefined) return service;
  const { body, command: written } = readBody(message, where, facts.bot);
  if (written?.bot !== undefined && written.bot !== facts.bot.username.toLowerCase()) return [];
  const command = commandFor(written, facts);
  if (command !== undefined) {
    const addressed = where.conversation.kind === "direct" ? "dm" : "mention";
    return [{ ...base, type: "command", addressed, ...command }];
  }
  if (body.text === "" && body.media.length === 0) return [];
  return [
    { ...base, type: "message", messageId, addressed: addressedBy(message, where, body, facts), ...body },
  ];
}

function readEdited(message: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const where = whereOf(message);
  const sender = senderOf(message, facts.bot);
  const messageId = where === undefined ? undefined : messageIdAt(message, where);
  if (where === undefined || sender === undefined || messageId === undefined) return undefined;
  const { body } = readBody(message, where, facts.bot);
  return [
    {
      ...common(reading, where, sender, timeAt(message, "edit_date") ?? timeAt(message, "date")),
      type: "edited",
      messageId,
      addressed: addressedBy(message, where, body, facts),
      ...body,
    },
  ];
}

function addressedBy(message: Payload, where: Where, body: MessageBody, { bot }: Facts): Addressed {
  if (where.conversation.kind === "direct") return "dm";
  if (body.mentions.some(({ isSelf }) => isSelf)) return "mention";
  // The first message of a topic is what every message of it answers.
  const answered = objectAt(message, "reply_to_message");
  const isTopicStart = isPayload(answered["forum_topic_created"]);
  return idAt(objectAt(answered, "from")) === bot.id && !isTopicStart ? "reply" : "none";
}

/** A command that Telegram lists; others are words. */
function commandFor(
  command: Read["command"],
  { commands }: Facts,
): { name: string; args: string } | undefined {
  if (command === undefined) return undefined;
  // Telegram's button with which every conversation with a bot begins.
  const name = command.name === "start" ? "help" : command.name;
  return commands.some((listed) => listed.name === name) ? { name, args: command.args } : undefined;
}

type Base = ReturnType<typeof common>;

/** What Telegram itself says in a chat; undefined for a message of somebody's. */
function readService(message: Payload, base: Base): readonly InboundEvent[] | undefined {
  const title = textAt(message, "new_chat_title");
  if (title !== undefined) return [{ ...base, type: "lifecycle", what: "renamed", detail: { name: title } }];
  const joined = objectsAt(message, "new_chat_members");
  const left = message["left_chat_member"];
  if (joined.length > 0) return joined.flatMap((user) => memberEvent(base, user, "joined"));
  return isPayload(left) ? memberEvent(base, left, "left") : undefined;
}

function memberEvent(base: Base, user: Payload, change: "joined" | "left"): readonly InboundEvent[] {
  const id = idAt(user);
  if (id === undefined) return [];
  const name = nameOf(user);
  const member = { id, isSelf: id === base.botId, ...(name === "" ? {} : { name }) };
  return [{ ...base, eventId: `${base.eventId}:${id}`, type: "member", change, member }];
}

function readOwnMembership(change: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const where = whereOf(change);
  const sender = personOf(objectAt(change, "from"), facts.bot);
  const status = textAt(objectAt(change, "new_chat_member"), "status");
  if (where === undefined || sender === undefined || status === undefined) return undefined;
  const what = status === "left" || status === "kicked" ? "removed" : "installed";
  return [{ ...common(reading, where, sender, timeAt(change, "date")), type: "lifecycle", what }];
}

function readClick(query: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const message = objectAt(query, "message");
  const sender = personOf(objectAt(query, "from"), facts.bot);
  if (sender === undefined) return undefined;
  const where = whereOf(message);
  // Of a message sent by way of another bot, or a button that was forgotten: nothing can be made of it.
  if (where === undefined || facts.clicked === undefined) return [];
  const messageId = messageIdAt(message, where);
  return [
    {
      ...common(reading, where, sender, undefined),
      type: "action",
      ...(messageId === undefined ? {} : { messageId }),
      ...facts.clicked,
    },
  ];
}

function readReactions(change: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const where = whereOf(change);
  const sender =
    personOf(objectAt(change, "user"), facts.bot) ??
    senderOf({ sender_chat: change["actor_chat"] }, facts.bot);
  const messageId = where === undefined ? undefined : messageIdAt(change, where);
  if (where === undefined || sender === undefined || messageId === undefined) return undefined;
  const base = common(reading, where, sender, timeAt(change, "date"));
  const before = emojiIn(change, "old_reaction");
  const after = emojiIn(change, "new_reaction");
  const event = (emoji: string, added: boolean): InboundEvent => ({
    ...base,
    eventId: `${base.eventId}:${added ? "+" : "-"}${emoji}`,
    type: "reaction",
    messageId,
    emoji,
    added,
  });
  return [
    ...before.filter((emoji) => !after.includes(emoji)).map((emoji) => event(emoji, false)),
    ...after.filter((emoji) => !before.includes(emoji)).map((emoji) => event(emoji, true)),
  ];
}

function emojiIn(change: Payload, field: string): readonly string[] {
  return objectsAt(change, field).flatMap((reaction) => {
    const emoji =
      textAt(reaction, "emoji") ?? textAt(reaction, "custom_emoji_id") ?? textAt(reaction, "type");
    return emoji === undefined ? [] : [emoji];
  });
}

function common({ eventId, update, facts }: Reading, where: Where, sender: Sender, at: number | undefined) {
  return {
    eventId,
    channel: "telegram",
    account: facts.account,
    botId: facts.bot.id,
    conversation: where.conversation,
    address: where.address,
    sender,
    addressed: where.conversation.kind === "direct" ? ("dm" as const) : ("none" as const),
    timestamp: at ?? facts.now,
    ...(facts.raw ? { raw: toJson(update) ?? null } : {}),
  };
}
