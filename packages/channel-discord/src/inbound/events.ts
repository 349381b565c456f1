import {
  type ChannelContext,
  type Conversation,
  eventFacts,
  getRepliedTo,
  type InboundEvent,
  type MessageEvent,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { DiscordApi } from "../api.ts";
import { type DiscordConfig, inviteAddress } from "../config.ts";
import { type Conversations, readLocation } from "../conversations.ts";
import type { People } from "../people.ts";
import type { DiscordFacts } from "./event-base.ts";
import { readInteraction } from "./interaction-head.ts";
import { interactionEvent, readInteractionPlace } from "./interactions.ts";
import { mentionedRoles, mentionsBot, type OwnIds } from "./mentions.ts";
import { readAskedAbout } from "./message-questions.ts";
import { hasContent, readDeleted, readEdited, readMessage, readReaction } from "./messages.ts";
import { lookUpThreadStart, withForwardedMessage, withReferencedMessage } from "./referenced-messages.ts";

/** An event of Discord's gateway. */
export interface GatewayEvent {
  /** Source: "Gateway Events". */
  readonly type: string;
  readonly data: Payload;
  /** The same for every redelivery. */
  readonly deliveryId: string;
}

export interface EventSources {
  readonly context: ChannelContext<DiscordConfig>;
  readonly people: People;
  readonly places: Conversations;
  readonly botId: string;
  readonly api: DiscordApi;
}

/** Converts a gateway event to inbound events. Returns none if the event is irrelevant or malformed. */
export async function readEvents(
  ports: EventSources,
  gatewayEvent: GatewayEvent,
  signal: AbortSignal,
): Promise<readonly InboundEvent[]> {
  const { context, places, botId } = ports;
  const { type, data } = gatewayEvent;
  switch (type) {
    case "MESSAGE_CREATE":
    case "MESSAGE_UPDATE":
      return hasContent(data, botId) ? readContentEvent(ports, gatewayEvent, signal) : [];
    case "MESSAGE_DELETE":
    case "MESSAGE_DELETE_BULK":
      return readDeletions(ports, gatewayEvent, signal);
    case "MESSAGE_REACTION_ADD":
    case "MESSAGE_REACTION_REMOVE": {
      const facts = await lookUpFacts(ports, gatewayEvent, signal);
      const added = type === "MESSAGE_REACTION_ADD";
      return facts === undefined ? [] : toList(readReaction(data, facts, { botId, added }));
    }
    case "INTERACTION_CREATE":
      return readInteractionEvent(ports, gatewayEvent, signal);
    case "THREAD_CREATE":
    case "THREAD_UPDATE":
    case "CHANNEL_UPDATE":
      await places.saw(data);
      return [];
    case "READY":
      logInvite(context, data);
      return [];
    default:
      return [];
  }
}

async function readContentEvent(
  ports: EventSources,
  gatewayEvent: GatewayEvent,
  signal: AbortSignal,
): Promise<readonly InboundEvent[]> {
  const facts = await lookUpFacts(ports, gatewayEvent, signal);
  if (facts === undefined) return [];
  const { conversation } = facts;
  const own = await lookUpOwnIds(ports, gatewayEvent.data, conversation, signal);
  const replying = await withReferencedMessage(ports.api, gatewayEvent.data, signal);
  const message = await withForwardedMessage(ports.api, replying, signal);
  const event =
    gatewayEvent.type === "MESSAGE_CREATE"
      ? readMessage(message, facts, own)
      : readEdited(message, facts, own);
  if (event === undefined || event.addressed === "none" || event.messageId === conversation.id)
    return toList(event);
  // If the first message of the thread cannot be looked up now, the message is emitted without it.
  const start = await lookUpThreadStart(ports, conversation, own, signal).catch(() => undefined);
  return [start === undefined ? event : { ...event, references: [start, ...(event.references ?? [])] }];
}

async function readInteractionEvent(
  ports: EventSources,
  gatewayEvent: GatewayEvent,
  signal: AbortSignal,
): Promise<readonly InboundEvent[]> {
  const { data } = gatewayEvent;
  const interaction = readInteraction(data);
  const conversation = readInteractionPlace(data);
  if (interaction === undefined || conversation === undefined) return [];
  await ports.places.saw(objectAt(data, "channel"));
  const facts = createFacts(ports, gatewayEvent, await completeConversation(ports, conversation, signal));
  const event = interactionEvent(data, interaction, facts);
  return toList(event?.type === "message" ? await addAskedAbout(ports, event) : event);
}

/** Adds the message that a form asks about. The submission contains only its id. */
async function addAskedAbout({ context, botId }: EventSources, event: MessageEvent): Promise<MessageEvent> {
  const messageId = getRepliedTo(event)?.messageId;
  if (messageId === undefined) return event;
  const reference = await readAskedAbout(context.cache, messageId, { botId, roleId: undefined });
  return { ...event, references: [reference] };
}

async function readDeletions(
  ports: EventSources,
  gatewayEvent: GatewayEvent,
  signal: AbortSignal,
): Promise<readonly InboundEvent[]> {
  const { id, ids } = gatewayEvent.data;
  const facts = await lookUpFacts(ports, gatewayEvent, signal);
  const messageIds = (Array.isArray(ids) ? ids : [id]).filter(
    (one): one is string => typeof one === "string",
  );
  return facts === undefined ? [] : messageIds.map((messageId) => readDeleted(messageId, facts));
}

/** Returns `undefined` if the channel cannot be read. */
async function lookUpFacts(
  ports: EventSources,
  gatewayEvent: GatewayEvent,
  signal: AbortSignal,
): Promise<DiscordFacts | undefined> {
  const where = readLocation(gatewayEvent.data);
  return (
    where && createFacts(ports, gatewayEvent, await ports.places.of(where.channelId, where.guildId, signal))
  );
}

function createFacts(
  { context, botId }: EventSources,
  { deliveryId, data }: GatewayEvent,
  conversation: Conversation,
): DiscordFacts {
  return { ...eventFacts(context, botId), conversation, deliveryId, payload: data };
}

/** Completes the conversation. An interaction may describe a thread without its parent channel. */
async function completeConversation(
  { places }: EventSources,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<Conversation> {
  const { id, guildId, parentId } = conversation;
  return guildId === undefined || parentId !== undefined ? conversation : places.of(id, guildId, signal);
}

/** Looks up the bot's own role in a server, only if the message mentions roles. */
async function lookUpOwnIds(
  { people, botId }: EventSources,
  message: Payload,
  { guildId }: Conversation,
  signal: AbortSignal,
): Promise<OwnIds> {
  const own = { botId, roleId: undefined };
  const isCalled = mentionsBot(textAt(message, "content") ?? "", own);
  if (guildId === undefined || isCalled || mentionedRoles(message).length === 0) return own;
  return { botId, roleId: await people.ownRole(guildId, signal) };
}

function logInvite({ logger }: EventSources["context"], ready: Payload): void {
  const applicationId = textAt(objectAt(ready, "application"), "id");
  const { guilds } = ready;
  if (applicationId === undefined || !Array.isArray(guilds) || guilds.length > 0) return;
  logger.info("the bot is not in any server yet; open this URL to add it", {
    invite: inviteAddress(applicationId),
  });
}

function toList<Event>(event: Event | undefined): readonly Event[] {
  return event === undefined ? [] : [event];
}
