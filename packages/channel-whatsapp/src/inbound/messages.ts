import {
  type Addressed,
  type EventBase,
  type EventFacts,
  eventBase,
  getRepliedTo,
  type InboundEvent,
  type MessageBody,
  objectAt,
  type Payload,
  type Sender,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { readId } from "../outbound/buttons.ts";
import { readBody } from "./body.ts";
import type { Change } from "./changes.ts";
import { type Place, readPersonId, readPlace, readSender } from "./place.ts";

interface Reading {
  readonly message: Payload;
  readonly messageId: string;
  readonly place: Place;
  readonly base: EventBase;
  readonly own: { readonly number: string; readonly phoneNumberId: string };
}

/** Returns the event of a message from a person, or `undefined` if the message is malformed or needs no reaction. */
export function readMessage(message: Payload, change: Change, facts: EventFacts): InboundEvent | undefined {
  const personId = readPersonId(message, "from", "from_user_id");
  if (personId === undefined) return undefined;
  return read(message, personId, readSender(personId, change.value), change, facts);
}

/** Returns the event of a message that was sent with the bot's number from the WhatsApp Business app. */
export function readEcho(message: Payload, change: Change, facts: EventFacts): InboundEvent | undefined {
  const personId = readPersonId(message, "to", "to_user_id");
  if (personId === undefined) return undefined;
  return read(message, personId, { id: facts.botId, isBot: true, isSelf: true }, change, facts);
}

function read(
  message: Payload,
  personId: string,
  sender: Sender,
  { ownNumber }: Change,
  facts: EventFacts,
): InboundEvent | undefined {
  const messageId = textAt(message, "id");
  const place = readPlace(message, personId);
  if (messageId === undefined || place === undefined) return undefined;
  const base = eventBase("whatsapp", facts, {
    eventId: messageId,
    ...place,
    sender,
    timestamp: timeAt(message, "timestamp"),
    payload: message,
  });
  const own = { number: ownNumber, phoneNumberId: facts.botId };
  return readType({ message, messageId, place, base, own });
}

function readType(reading: Reading): InboundEvent | undefined {
  const { message, base } = reading;
  switch (message["type"]) {
    case "reaction":
      return readReaction(reading);
    case "edit":
      return readEdit(reading);
    case "revoke": {
      const original = textAt(objectAt(message, "revoke"), "original_message_id");
      return original === undefined ? undefined : { ...base, type: "deleted", messageId: original };
    }
    // A changed phone number: the person has a new id, which is unknown until they write.
    case "system":
      return undefined;
    case "interactive":
      return readChoice(reading) ?? readWritten(reading);
    default:
      return readWritten(reading);
  }
}

function readWritten({ message, messageId, place, base, own }: Reading): InboundEvent | undefined {
  const body = readBody(message, own);
  if (body.text === "" && body.media.length === 0 && body.references === undefined) return undefined;
  return { ...base, type: "message", messageId, ...body, addressed: getAddressed(place, body) };
}

/** Returns the click on one of our buttons, or the choice from one of our lists. */
function readChoice({ message, base }: Reading): InboundEvent | undefined {
  const interactive = objectAt(message, "interactive");
  const reply = objectAt(interactive, textAt(interactive, "type") ?? "");
  const choice = readId(textAt(reply, "id") ?? "");
  const messageId = textAt(objectAt(message, "context"), "id");
  return choice && { ...base, type: "action", messageId, ...choice };
}

/** When a reaction is removed, Meta leaves out the emoji, or sends an empty one. */
function readReaction({ message, base }: Reading): InboundEvent | undefined {
  const reaction = objectAt(message, "reaction");
  const messageId = textAt(reaction, "message_id");
  const emoji = textAt(reaction, "emoji") ?? "";
  return messageId === undefined
    ? undefined
    : { ...base, type: "reaction", messageId, emoji, added: emoji !== "" };
}

/** Reads an edit. Only numbers that are also used in the WhatsApp Business app receive them. */
function readEdit({ message, place, base, own }: Reading): InboundEvent | undefined {
  const edit = objectAt(message, "edit");
  const messageId = textAt(edit, "original_message_id");
  if (messageId === undefined) return undefined;
  // The context of the new version is a placeholder.
  const { context: _, ...version } = objectAt(edit, "message");
  const body = readBody(version, own);
  return { ...base, type: "edited", messageId, ...body, addressed: getAddressed(place, body) };
}

function getAddressed({ conversation }: Place, body: MessageBody): Addressed {
  if (conversation.kind === "direct") return "dm";
  if (body.mentions.some(({ isSelf }) => isSelf)) return "mention";
  return getRepliedTo(body)?.sender?.isSelf === true ? "reply" : "none";
}
