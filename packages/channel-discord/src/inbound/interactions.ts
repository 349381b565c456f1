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
import { addressCodec, idAt, timeOf } from "../address.ts";
import { formBehind, readCustomId } from "../outbound/buttons.ts";
import { readPlace, whereIn } from "../places.ts";
import { messageAskedAbout, textOfForm } from "./asked-forms.ts";
import { baseOf, type EventFacts } from "./event-base.ts";
import type { InteractionHead } from "./interaction-head.ts";
import { personOf } from "./messages.ts";

/** Where it happened: an interaction carries its channel. Undefined where that cannot be read. */
export function placeOfInteraction(payload: Payload): Conversation | undefined {
  const where = whereIn(payload);
  if (where === undefined) return undefined;
  const { channelId, guildId } = where;
  const place = readPlace(objectAt(payload, "channel")) ?? {
    id: channelId,
    kind: guildId ? "channel" : "direct",
  };
  return guildId === undefined ? place : { ...place, guildId };
}

/** Undefined for what cannot be read, and for what first opens a form. */
export function interactionEvent(
  payload: Payload,
  { id, kind, awaitsMessage }: InteractionHead,
  facts: EventFacts,
): CommandEvent | ActionEvent | MessageEvent | undefined {
  const sender = readUser(payload, facts.botId);
  const data = objectAt(payload, "data");
  if (sender === undefined) return undefined;
  // What answers it goes where it waits for an answer.
  const { id: channelId } = facts.conversation;
  const address = addressCodec.encode(awaitsMessage ? { channelId, interactionId: id } : { channelId });
  const base = {
    ...baseOf(facts, sender),
    eventId: `interaction:${id}`,
    address,
    timestamp: timeOf(id) ?? facts.now,
  };
  switch (kind) {
    case "command": {
      const name = textAt(data, "name");
      return name === undefined ? undefined : { ...base, type: "command", name, args: argumentsOf(data) };
    }
    case "message-command":
      return undefined;
    case "component":
      return clickEvent(payload, base);
    case "form":
      return awaitsMessage ? questionEvent(data, base) : formEvent(payload, base);
  }
}

type Base = ReturnType<typeof baseOf>;

/** A click on a button, or a choice of a menu. */
function clickEvent(payload: Payload, base: Base): ActionEvent | undefined {
  const data = objectAt(payload, "data");
  const [chosen] = Array.isArray(data["values"]) ? data["values"] : [];
  const customId = typeof chosen === "string" ? chosen : textAt(data, "custom_id");
  if (customId === undefined || formBehind(customId) !== undefined) return undefined;
  return { ...base, ...ofMessage(payload), type: "action", ...readCustomId(customId) };
}

/** What was written into the form of a button. */
function formEvent(payload: Payload, base: Base): ActionEvent | undefined {
  const data = objectAt(payload, "data");
  const [customId, text] = [textAt(data, "custom_id"), textOfForm(data)];
  if (customId === undefined || text === undefined) return undefined;
  return { ...base, ...ofMessage(payload), type: "action", ...readCustomId(customId), text };
}

function ofMessage(payload: Payload): Pick<ActionEvent, "messageId"> {
  const messageId = textAt(objectAt(payload, "message"), "id");
  return messageId === undefined ? {} : { messageId };
}

/** A question about a message: who asks by the bot's own command speaks to it. */
function questionEvent(data: Payload, base: Base): MessageEvent | undefined {
  const text = textOfForm(data);
  const about = messageAskedAbout(textAt(data, "custom_id") ?? "");
  if (text === undefined || about === undefined) return undefined;
  const addressed = base.addressed === "dm" ? "dm" : "mention";
  return {
    ...base,
    type: "message",
    messageId: "",
    addressed,
    text: normalizeLineEnds(text),
    replyTo: { messageId: about },
    media: [],
    mentions: [],
  };
}

/** In a server a member uses it, elsewhere a user. */
function readUser(payload: Payload, botId: string): Sender | undefined {
  const member = objectAt(payload, "member");
  const ofMember = objectAt(member, "user");
  const user = idAt(ofMember, "id") !== undefined ? ofMember : objectAt(payload, "user");
  return idAt(user, "id") !== undefined ? personOf(user, member, { botId }) : undefined;
}

function argumentsOf(data: Payload): string {
  return objectsAt(data, "options")
    .map(({ value }) => value)
    .filter((value) => ["string", "number", "boolean"].includes(typeof value))
    .join(" ")
    .toWellFormed();
}
