import {
  type ChannelContext,
  type Conversation,
  type InboundEvent,
  type MessageEvent,
  objectAt,
  type Payload,
  textAt,
  toJson,
} from "@signalbox/channel";
import { type DiscordConfig, inviteAddress } from "../config.ts";
import type { People } from "../people.ts";
import { type Places, whereIn } from "../places.ts";
import { readAskedAbout } from "./asked-forms.ts";
import type { EventFacts } from "./event-base.ts";
import { readInteraction } from "./interaction-head.ts";
import { interactionEvent, placeOfInteraction } from "./interactions.ts";
import { callsByName, mentionedRoles, type OwnIds } from "./mentions.ts";
import { isSpoken, readDeleted, readEdited, readMessage, readReaction } from "./messages.ts";

/** One thing that the gateway told. */
export interface Told {
  /** Source: Discord's list of gateway events. */
  readonly type: string;
  readonly data: Payload;
  /** The same at every repetition. */
  readonly deliveryId: string;
}

export interface ReadingPorts {
  readonly context: ChannelContext<DiscordConfig>;
  readonly people: People;
  readonly places: Places;
  readonly botId: string;
}

/** None for what concerns nobody here, and for what cannot be read. */
export async function readEvents(
  ports: ReadingPorts,
  told: Told,
  signal: AbortSignal,
): Promise<readonly InboundEvent[]> {
  const { context, places, botId } = ports;
  const { type, data } = told;
  switch (type) {
    case "MESSAGE_CREATE":
    case "MESSAGE_UPDATE":
      return isSpoken(data, botId) ? spoken(ports, told, signal) : [];
    case "MESSAGE_DELETE":
    case "MESSAGE_DELETE_BULK":
      return deleted(ports, told, signal);
    case "MESSAGE_REACTION_ADD":
    case "MESSAGE_REACTION_REMOVE": {
      const facts = await factsAt(ports, told, signal);
      const added = type === "MESSAGE_REACTION_ADD";
      return facts === undefined ? [] : some(readReaction(data, facts, { botId, added }));
    }
    case "INTERACTION_CREATE":
      return interacted(ports, told, signal);
    case "THREAD_CREATE":
    case "THREAD_UPDATE":
    case "CHANNEL_UPDATE":
      await places.saw(data);
      return [];
    case "READY":
      greet(context, data);
      return [];
    default:
      return [];
  }
}

async function spoken(
  ports: ReadingPorts,
  told: Told,
  signal: AbortSignal,
): Promise<readonly InboundEvent[]> {
  const facts = await factsAt(ports, told, signal);
  if (facts === undefined) return [];
  const own = await ownIdsFor(ports, told.data, facts.conversation, signal);
  return some(
    told.type === "MESSAGE_CREATE" ? readMessage(told.data, facts, own) : readEdited(told.data, facts, own),
  );
}

async function interacted(
  ports: ReadingPorts,
  told: Told,
  signal: AbortSignal,
): Promise<readonly InboundEvent[]> {
  const { data } = told;
  const interaction = readInteraction(data);
  const conversation = placeOfInteraction(data);
  if (interaction === undefined || conversation === undefined) return [];
  await ports.places.saw(objectAt(data, "channel"));
  const facts = factsIn(ports, told, await whole(ports, conversation, signal));
  const event = interactionEvent(data, interaction, facts);
  return some(event?.type === "message" ? await askedAbout(ports, event) : event);
}

/** A form names the message that it asks about, and nothing else of it. */
async function askedAbout({ context, botId }: ReadingPorts, event: MessageEvent): Promise<MessageEvent> {
  const { replyTo } = event;
  if (replyTo === undefined) return event;
  return {
    ...event,
    ...(await readAskedAbout(context.cache, replyTo.messageId, { botId, roleId: undefined })),
  };
}

async function deleted(
  ports: ReadingPorts,
  told: Told,
  signal: AbortSignal,
): Promise<readonly InboundEvent[]> {
  const { id, ids } = told.data;
  const facts = await factsAt(ports, told, signal);
  const messageIds = (Array.isArray(ids) ? ids : [id]).filter(
    (one): one is string => typeof one === "string",
  );
  return facts === undefined ? [] : messageIds.map((messageId) => readDeleted(messageId, facts));
}

/** Undefined where the place cannot be read. */
async function factsAt(
  ports: ReadingPorts,
  told: Told,
  signal: AbortSignal,
): Promise<EventFacts | undefined> {
  const where = whereIn(told.data);
  return where && factsIn(ports, told, await ports.places.of(where.channelId, where.guildId, signal));
}

function factsIn(
  { context, botId }: ReadingPorts,
  { deliveryId, data }: Told,
  conversation: Conversation,
): EventFacts {
  return {
    account: context.account,
    botId,
    conversation,
    deliveryId,
    now: context.clock.now(),
    ...(context.raw === true ? { raw: toJson(data) ?? null } : {}),
  };
}

/** An interaction may name a thread without the channel it belongs to. */
async function whole(
  { places }: ReadingPorts,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<Conversation> {
  const { id, guildId, parentId } = conversation;
  return guildId === undefined || parentId !== undefined ? conversation : places.of(id, guildId, signal);
}

/** In a server a role that came with the bot stands for it; only a message that mentions roles has to know it. */
async function ownIdsFor(
  { people, botId }: ReadingPorts,
  message: Payload,
  { guildId }: Conversation,
  signal: AbortSignal,
): Promise<OwnIds> {
  const own = { botId, roleId: undefined };
  const isCalled = callsByName(textAt(message, "content") ?? "", own);
  if (guildId === undefined || isCalled || mentionedRoles(message).length === 0) return own;
  return { botId, roleId: await people.ownRole(guildId, signal) };
}

function greet({ logger }: ReadingPorts["context"], ready: Payload): void {
  const applicationId = textAt(objectAt(ready, "application"), "id");
  const { guilds } = ready;
  if (applicationId === undefined || !Array.isArray(guilds) || guilds.length > 0) return;
  logger.info("the bot is not in any server yet; use this address to add it", {
    invite: inviteAddress(applicationId),
  });
}

function some<Event>(event: Event | undefined): readonly Event[] {
  return event === undefined ? [] : [event];
}
