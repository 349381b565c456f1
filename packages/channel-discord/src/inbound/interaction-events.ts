import {
  type ActionEvent,
  type CommandEvent,
  type Conversation,
  objectAt,
  objectsAt,
  type Payload,
  type Sender,
  textAt,
} from "@signalbox/channel";
import { addressCodec, idAt, timeOf } from "../address.ts";
import { readCustomId } from "../outbound/buttons.ts";
import { readPlace, whereIn } from "../places.ts";
import { baseOf, type EventFacts } from "./event-base.ts";
import { personOf } from "./message-events.ts";

/** Somebody used a command or a button, as far as it has to be answered at once. */
export interface InteractionHead {
  readonly id: string;
  readonly token: string;
  readonly kind: "command" | "component";
  readonly applicationId: string;
}

/** Source: Discord's page on receiving interactions. Others are forms and completions, which are not offered. */
const kinds: ReadonlyMap<unknown, InteractionHead["kind"]> = new Map([
  [2, "command"],
  [3, "component"],
]);

/** Undefined for what cannot be read, and for kinds that are not known. */
export function readInteraction(payload: Payload): InteractionHead | undefined {
  const kind = kinds.get(payload["type"]);
  const [id, applicationId] = ["id", "application_id"].map((key) => idAt(payload, key));
  const token = textAt(payload, "token");
  if (kind === undefined || id === undefined || token === undefined || applicationId === undefined)
    return undefined;
  return { id, token, kind, applicationId };
}

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

/** Undefined for what cannot be read. */
export function interactionEvent(
  payload: Payload,
  { id, kind }: InteractionHead,
  facts: EventFacts,
): CommandEvent | ActionEvent | undefined {
  const sender = readUser(payload, facts.botId);
  const data = objectAt(payload, "data");
  if (sender === undefined) return undefined;
  const base = { ...baseOf(facts, sender), eventId: `interaction:${id}`, timestamp: timeOf(id) ?? facts.now };
  if (kind === "command") {
    const name = textAt(data, "name");
    if (name === undefined) return undefined;
    // What answers it may go where the command waits for an answer.
    const address = addressCodec.encode({ channelId: facts.conversation.id, interactionId: id });
    return { ...base, address, type: "command", name, args: argumentsOf(data) };
  }
  const customId = textAt(data, "custom_id");
  if (customId === undefined) return undefined;
  const messageId = textAt(objectAt(payload, "message"), "id");
  return {
    ...base,
    type: "action",
    ...readCustomId(customId),
    ...(messageId === undefined ? {} : { messageId }),
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
