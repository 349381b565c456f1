import {
  type Addressed,
  type ChannelCommand,
  type EventFacts,
  eventBase,
  type InboundEvent,
  isPayload,
  type MessageBody,
  objectAt,
  objectsAt,
  type Payload,
  type Sender,
  textAt,
  timeAt,
} from "@signalbox/channel";
import type { Click } from "../outbound/buttons.ts";
import { type Read, readBody } from "./body.ts";
import {
  getDisplayName,
  idAt,
  messageIdAt,
  type Place,
  readPlace,
  readSender,
  readUser,
} from "./conversation.ts";
import type { Bot } from "./text.ts";

/** Facts that the update itself does not contain. */
export interface Facts extends EventFacts {
  readonly bot: Bot;
  /** The commands that are registered with Telegram. */
  readonly commands: readonly ChannelCommand[];
  /** The action behind the button, if the update is a click on one of our buttons. */
  readonly clicked?: Click | undefined;
}

/**
 * The update types requested by `getUpdates` and `setWebhook`. Other types are ignored if a webhook was
 * registered with them. `guest_message` is left out on purpose: a guest summons the bot in a chat that it has
 * not joined and can get one public reply, which leaves no place for pairing, questions or a conversation.
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
 * Converts an update to events, in order.
 *
 * @returns an empty list if the update needs no reaction, `undefined` if it is malformed. Source: the Bot
 *   API's `Update`.
 */
export function readUpdate(update: Payload, facts: Facts): readonly InboundEvent[] | undefined {
  const eventId = getUpdateId(update);
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

export function getUpdateId(update: Payload): number | undefined {
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
  const where = readPlace(message);
  const sender = readSender(message, facts.bot);
  const messageId = where === undefined ? undefined : messageIdAt(message, where);
  if (where === undefined || sender === undefined || messageId === undefined) return undefined;
  const base = createBase(reading, where, sender, timeAt(message, "date"));
  const service = readService(message, base);
  if (service !== undefined) return service;
  const { body, command: written } = readBody(message, where, facts.bot);
  if (written?.bot !== undefined && written.bot !== facts.bot.username.toLowerCase()) return [];
  const command = findRegisteredCommand(written, facts);
  if (command !== undefined) {
    const addressed = where.conversation.kind === "direct" ? "dm" : "mention";
    return [{ ...base, type: "command", addressed, ...command }];
  }
  if (body.text === "" && body.media.length === 0 && body.references === undefined) return [];
  const addressed = getAddressed(message, where, body, facts);
  // A command that names the bot mentions it, although Telegram does not mark the name as a mention.
  const isCalled = written?.bot !== undefined && addressed !== "dm";
  return [{ ...base, type: "message", messageId, addressed: isCalled ? "mention" : addressed, ...body }];
}

function readEdited(message: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const where = readPlace(message);
  const sender = readSender(message, facts.bot);
  const messageId = where === undefined ? undefined : messageIdAt(message, where);
  if (where === undefined || sender === undefined || messageId === undefined) return undefined;
  const { body } = readBody(message, where, facts.bot);
  return [
    {
      ...createBase(reading, where, sender, timeAt(message, "edit_date") ?? timeAt(message, "date")),
      type: "edited",
      messageId,
      sentAt: timeAt(message, "date"),
      // While a live location is being shared, Telegram edits its message with each new position.
      automatic: isPayload(message["location"]) ? true : undefined,
      addressed: getAddressed(message, where, body, facts),
      ...body,
    },
  ];
}

function getAddressed(message: Payload, where: Place, body: MessageBody, { bot }: Facts): Addressed {
  if (where.conversation.kind === "direct") return "dm";
  if (body.mentions.some(({ isSelf }) => isSelf)) return "mention";
  // Every message of a topic is technically a reply to the message that created the topic.
  const answered = objectAt(message, "reply_to_message");
  const isTopicStart = isPayload(answered["forum_topic_created"]);
  return idAt(objectAt(answered, "from")) === bot.id && !isTopicStart ? "reply" : "none";
}

/** Returns the command if it is registered with Telegram. Other commands are ordinary text. */
function findRegisteredCommand(
  command: Read["command"],
  { commands }: Facts,
): { name: string; args: string } | undefined {
  if (command === undefined) return undefined;
  // Telegram sends `/start` when someone starts a conversation with a bot.
  const name = command.name === "start" ? "help" : command.name;
  return commands.some((listed) => listed.name === name) ? { name, args: command.args } : undefined;
}

type Base = ReturnType<typeof createBase>;

/** Reads a service message. Returns `undefined` for a message from a person. */
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
  const name = getDisplayName(user);
  const member = { id, isSelf: id === base.botId, name: name === "" ? undefined : name };
  return [{ ...base, eventId: `${base.eventId}:${id}`, type: "member", change, member }];
}

function readOwnMembership(change: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const where = readPlace(change);
  const sender = readUser(objectAt(change, "from"), facts.bot);
  const status = textAt(objectAt(change, "new_chat_member"), "status");
  if (where === undefined || sender === undefined || status === undefined) return undefined;
  const what = status === "left" || status === "kicked" ? "removed" : "installed";
  return [{ ...createBase(reading, where, sender, timeAt(change, "date")), type: "lifecycle", what }];
}

function readClick(query: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const message = objectAt(query, "message");
  const sender = readUser(objectAt(query, "from"), facts.bot);
  if (sender === undefined) return undefined;
  const where = readPlace(message);
  // The button belongs to a message sent through another bot, or its value was evicted.
  if (where === undefined || facts.clicked === undefined) return [];
  const messageId = messageIdAt(message, where);
  return [
    {
      ...createBase(reading, where, sender, undefined),
      type: "action",
      messageId,
      ...facts.clicked,
    },
  ];
}

function readReactions(change: Payload, reading: Reading): readonly InboundEvent[] | undefined {
  const { facts } = reading;
  const where = readPlace(change);
  const sender =
    readUser(objectAt(change, "user"), facts.bot) ??
    readSender({ sender_chat: change["actor_chat"] }, facts.bot);
  const messageId = where === undefined ? undefined : messageIdAt(change, where);
  if (where === undefined || sender === undefined || messageId === undefined) return undefined;
  const base = createBase(reading, where, sender, timeAt(change, "date"));
  const before = readEmoji(change, "old_reaction");
  const after = readEmoji(change, "new_reaction");
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

function readEmoji(change: Payload, field: string): readonly string[] {
  return objectsAt(change, field).flatMap((reaction) => {
    const emoji =
      textAt(reaction, "emoji") ?? textAt(reaction, "custom_emoji_id") ?? textAt(reaction, "type");
    return emoji === undefined ? [] : [emoji];
  });
}

function createBase(
  { eventId, update, facts }: Reading,
  where: Place,
  sender: Sender,
  at: number | undefined,
) {
  const { conversation, address } = where;
  return eventBase("telegram", facts, {
    eventId,
    conversation,
    address,
    sender,
    timestamp: at,
    payload: update,
  });
}
