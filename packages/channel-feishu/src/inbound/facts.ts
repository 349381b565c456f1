import {
  type ChannelContext,
  catchRefusal,
  deadline,
  eventFacts,
  isChannelError,
  isRetryable,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { FeishuConfig } from "../config.ts";
import { limits } from "../limits.ts";
import type { People } from "../people.ts";
import type { EarlierMessage, Place, Places } from "../places.ts";
import type { EventEnvelope } from "./envelope.ts";
import { chatOf, type Facts, getThreadStart, messageOf } from "./events.ts";

export interface FactsPorts {
  readonly context: ChannelContext<FeishuConfig>;
  readonly people: People;
  readonly places: Places;
  /** Called if a message that an event refers to could not be looked up. */
  readonly onTrouble: (reason: string) => void;
}

/** Looks up the missing facts of an event. Returns `undefined` if a required one could not be found out in time. */
export async function lookUpFacts(ports: FactsPorts, envelope: EventEnvelope): Promise<Facts | undefined> {
  const { context, people, places } = ports;
  const limit = deadline(limits.lookupMs, context.signal);
  const { signal } = limit;
  const message = messageOf(envelope);
  try {
    const chatId = message && textAt(message, "chat_id");
    if (chatId !== undefined) await places.saw(chatId, message?.["chat_type"] === "p2p" ? "direct" : "group");
    return {
      ...eventFacts(context, context.config.appId),
      selfId: await selfFor(people, envelope, message, signal),
      answered: message && (await answeredBy(places, message, signal)),
      threadStart: message && (await startOf(places, message, signal)),
      forwarded: message && (await forwardedIn(places, message, signal)),
      place: await placeOf(places, envelope, signal),
    };
  } catch (error) {
    if (!isChannelError(error)) throw error;
    ports.onTrouble(error.message);
    context.logger.warn("an event must be redelivered: what it refers to could not be looked up", {
      type: envelope.type,
      reason: error.message,
    });
    return undefined;
  } finally {
    limit.end();
  }
}

/**
 * In a group, the bot's id is required, because it determines whether the message addresses the bot. Elsewhere it only
 * affects the text.
 */
async function selfFor(
  people: People,
  { type, event }: EventEnvelope,
  message: Payload | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const mentioned = message !== undefined && objectsAt(message, "mentions").length > 0;
  if (mentioned && message["chat_type"] === "p2p") {
    return (await people.self(signal).catch(() => undefined))?.id;
  }
  // A message from an app may be the bot's own.
  const byApp = message !== undefined && objectAt(event, "sender")["sender_type"] !== "user";
  if (mentioned || byApp || type.includes(".member.bot.")) return (await people.self(signal)).id;
  return people.known()?.id;
}

/**
 * In a group, the message that is replied to is required, because it determines whether the message addresses the bot.
 * Elsewhere the event is emitted without it.
 */
async function answeredBy(
  places: Places,
  message: Payload,
  signal: AbortSignal,
): Promise<EarlierMessage | undefined> {
  const parentId = textAt(message, "parent_id");
  if (parentId === undefined) return undefined;
  try {
    return await places.message(parentId, signal);
  } catch (error) {
    // If the bot may not read a message, it is not the author. Other failures may be temporary.
    if (message["chat_type"] === "p2p" || !isRetryable(error)) return undefined;
    throw error;
  }
}

/** Looks up the first message of the thread, unless the message replies to it. A failure does not delay the message. */
async function startOf(
  places: Places,
  message: Payload,
  signal: AbortSignal,
): Promise<EarlierMessage | undefined> {
  const rootId = getThreadStart(message);
  return rootId === undefined ? undefined : places.message(rootId, signal).catch(() => undefined);
}

/**
 * Returns the content of a merged forward or of a card, which the event contains only in part. It is emitted without it
 * if the bot may not read it. Other failures may be temporary.
 */
async function forwardedIn(
  places: Places,
  message: Payload,
  signal: AbortSignal,
): Promise<string | undefined> {
  const messageId = textAt(message, "message_id");
  if (messageId === undefined) return undefined;
  switch (message["message_type"]) {
    case "merge_forward":
      return catchRefusal(places.forwarded(messageId, signal), undefined);
    case "interactive": {
      const card = await places.message(messageId, signal).catch(() => undefined);
      return card?.content?.text || undefined;
    }
    default:
      return undefined;
  }
}

async function placeOf(
  places: Places,
  envelope: EventEnvelope,
  signal: AbortSignal,
): Promise<Place | undefined> {
  const { type, event } = envelope;
  const named = chatOf(envelope);
  if (type === "im.message.recalled_v1" || type === "card.action.trigger") {
    return named === undefined ? undefined : { chatId: named, kind: await places.kind(named, signal) };
  }
  const messageId = type.startsWith("im.message.reaction.") ? textAt(event, "message_id") : undefined;
  if (messageId === undefined) return undefined;
  const chatId = (await catchRefusal(places.message(messageId, signal), undefined))?.chatId;
  return chatId === undefined ? undefined : { chatId, kind: await places.kind(chatId, signal) };
}
