import type { MessageEvent } from "@signalbox/channel";
import type { InboxAccept, InboxStore, PlatformMessage } from "@signalbox/store";
import type { ServiceBodies, StoredMessage, StoredRow } from "./service-store.ts";

/** Platforms give ids that are unique for one bot, and an account may get another one. */
interface OfBot {
  readonly botId?: string;
}

/** Inbox keys of an event. Ids are unique per bot. */
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

/** Whether a stored message belongs to another bot that uses the same id. */
export function isOfAnotherBot({ event }: Pick<StoredMessage, "event">, { botId }: OfBot): boolean {
  return botId !== undefined && event.botId !== undefined && event.botId !== botId;
}

/** A message is known by its platform's id alone, as people name it, unless another bot's had that id before. */
export async function acceptOfBot<T extends ServiceBodies>(
  inbox: Pick<InboxStore<T>, "acceptAhead" | "get">,
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

/** The message that a platform means: its bot's own. */
export async function findOfBot<T extends ServiceBodies>(
  inbox: Pick<InboxStore<T>, "find">,
  message: PlatformMessage & OfBot,
): ReturnType<InboxStore<T>["find"]> {
  const row = await inbox.find(message);
  if (message.botId === undefined || (row !== undefined && !isOfAnotherBot(row.payload, message))) return row;
  return inbox.find({ ...message, messageId: botKey(message, message.messageId) });
}

/** A message as the inbox knows it. */
export function inboxName({ channel, account, messageId = "" }: StoredRow): PlatformMessage {
  return { channel, account, messageId };
}
