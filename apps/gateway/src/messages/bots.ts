import type { MessageEvent } from "@signalbox/channel";
import type { InboxAccept, InboxStore, PlatformMessage } from "@signalbox/store";
import type { ServiceBodies, StoredMessage } from "./service-store.ts";

/** Message ids are unique per bot, and an account's bot can be replaced. */
interface OfBot {
  readonly botId?: string;
}

/** Returns the inbox keys of an event. Ids are unique per bot. */
export function inboxKeys(
  event: MessageEvent,
): Pick<InboxAccept, "channel" | "account" | "eventId" | "conversationId" | "senderId"> {
  const { channel, account, conversation, sender } = event;
  const eventId = botKey(event, event.eventId);
  return { channel, account, eventId, conversationId: conversation.id, senderId: sender.id };
}

function botKey({ botId }: OfBot, id: string): string {
  return botId === undefined ? id : `${botId}/${id}`;
}

/** Returns true if a stored message belongs to another bot that uses the same id. */
export function isOfAnotherBot({ event }: StoredMessage, { botId }: OfBot): boolean {
  return botId !== undefined && event.botId !== undefined && event.botId !== botId;
}

/**
 * Accepts a message under the platform's id only, which people use in commands. If a message from another bot has this
 * id, the bot's id is added.
 */
export async function acceptOfBot<T extends ServiceBodies>(
  inbox: InboxStore<T>,
  entry: InboxAccept<T>,
): ReturnType<InboxStore<T>["acceptAhead"]> {
  const accepted = await inbox.acceptAhead(entry);
  const { result } = accepted;
  if (result.outcome !== "duplicate" || result.id === undefined || entry.messageId === undefined)
    return accepted;
  const { event } = entry.payload;
  const before = await inbox.get(result.id);
  if (before === undefined || !isOfAnotherBot(before.payload, event)) return accepted;
  return inbox.acceptAhead({ ...entry, messageId: botKey(event, entry.messageId) });
}

/** Finds a message by its platform id. A message from the same bot takes precedence. */
export async function findOfBot<T extends ServiceBodies>(
  inbox: InboxStore<T>,
  message: PlatformMessage & OfBot,
): ReturnType<InboxStore<T>["find"]> {
  const row = await inbox.find(message);
  if (message.botId === undefined || (row !== undefined && !isOfAnotherBot(row.payload, message))) return row;
  return inbox.find({ ...message, messageId: botKey(message, message.messageId) });
}
