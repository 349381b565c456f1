import {
  type ActionEvent,
  type CommandEvent,
  type Conversation,
  type MessageEvent,
  normalizeLineEnds,
  objectAt,
  objectsAt,
  type Payload,
  type Sender,
  textAt,
} from "@signalbox/channel";
import { addressCodec, getSnowflakeTime, idAt } from "../address.ts";
import { readConversation, readLocation } from "../conversations.ts";
import { getFormId, readCustomId } from "../outbound/buttons.ts";
import { createBase, type DiscordFacts } from "./event-base.ts";
import type { InteractionHead } from "./interaction-head.ts";
import { parseAskedAbout, readFormText } from "./message-questions.ts";
import { createSender } from "./messages.ts";

/** Reads the channel of an interaction. Returns `undefined` if it is malformed. */
export function readInteractionPlace(payload: Payload): Conversation | undefined {
  const where = readLocation(payload);
  if (where === undefined) return undefined;
  const { channelId, guildId } = where;
  const place = readConversation(objectAt(payload, "channel")) ?? {
    id: channelId,
    kind: guildId ? "channel" : "direct",
  };
  return guildId === undefined ? place : { ...place, guildId };
}

/** Returns `undefined` if the interaction is malformed or only opens a form. */
export function interactionEvent(
  payload: Payload,
  { id, kind, awaitsMessage }: InteractionHead,
  facts: DiscordFacts,
): CommandEvent | ActionEvent | MessageEvent | undefined {
  const sender = readUser(payload, facts.botId);
  const data = objectAt(payload, "data");
  if (sender === undefined) return undefined;
  // The answer to a command replaces its pending response.
  const { id: channelId } = facts.conversation;
  const address = addressCodec.encode(awaitsMessage ? { channelId, interactionId: id } : { channelId });
  const base = {
    ...createBase(facts, sender),
    eventId: `interaction:${id}`,
    address,
    timestamp: getSnowflakeTime(id) ?? facts.now,
  };
  switch (kind) {
    case "command": {
      const name = textAt(data, "name");
      return name === undefined ? undefined : { ...base, type: "command", name, args: joinArguments(data) };
    }
    case "message-command":
      return undefined;
    case "component":
      return readClick(payload, base);
    case "form":
      return awaitsMessage ? readQuestion(data, base) : readFormSubmission(payload, base);
  }
}

type Base = ReturnType<typeof createBase>;

/** Reads a click on a button or a selection in a menu. */
function readClick(payload: Payload, base: Base): ActionEvent | undefined {
  const data = objectAt(payload, "data");
  const [chosen] = Array.isArray(data["values"]) ? data["values"] : [];
  const customId = typeof chosen === "string" ? chosen : textAt(data, "custom_id");
  if (customId === undefined || getFormId(customId) !== undefined) return undefined;
  return { ...base, ...getMessageField(payload), type: "action", ...readCustomId(customId) };
}

/** Reads the submission of a form that a button opened. */
function readFormSubmission(payload: Payload, base: Base): ActionEvent | undefined {
  const data = objectAt(payload, "data");
  const [customId, text] = [textAt(data, "custom_id"), readFormText(data)];
  if (customId === undefined || text === undefined) return undefined;
  return { ...base, ...getMessageField(payload), type: "action", ...readCustomId(customId), text };
}

function getMessageField(payload: Payload): Pick<ActionEvent, "messageId"> {
  const messageId = textAt(objectAt(payload, "message"), "id");
  return messageId === undefined ? {} : { messageId };
}

/** Reads a question about a message. The bot's own command always addresses the bot. */
function readQuestion(data: Payload, base: Base): MessageEvent | undefined {
  const text = readFormText(data);
  const about = parseAskedAbout(textAt(data, "custom_id") ?? "");
  if (text === undefined || about === undefined) return undefined;
  const addressed = base.addressed === "dm" ? "dm" : "mention";
  return {
    ...base,
    type: "message",
    messageId: "",
    addressed,
    text: normalizeLineEnds(text),
    references: [{ kind: "reply", messageId: about }],
    media: [],
    mentions: [],
  };
}

/** Interactions in a server contain a member, others a user. */
function readUser(payload: Payload, botId: string): Sender | undefined {
  const member = objectAt(payload, "member");
  const ofMember = objectAt(member, "user");
  const user = idAt(ofMember, "id") !== undefined ? ofMember : objectAt(payload, "user");
  return idAt(user, "id") !== undefined ? createSender(user, member, { botId }) : undefined;
}

function joinArguments(data: Payload): string {
  return objectsAt(data, "options")
    .map(({ value }) => value)
    .filter((value) => ["string", "number", "boolean"].includes(typeof value))
    .join(" ")
    .toWellFormed();
}
