import type { PlatformMessage } from "@signalbox/store";
import type { GatewayStore, InboundRecord } from "../../store.ts";

/** Platforms give ids that are unique for one bot, and an account may get another one. */
interface OfBot {
  readonly botId?: string;
}

/** An id that no other bot's is. */
export function botKey({ botId }: OfBot, id: string): string {
  return botId === undefined ? id : `${botId}/${id}`;
}

/** Whether a stored message only has the same id as one that another bot gets. */
export function isOfAnotherBot({ event }: InboundRecord, { botId }: OfBot): boolean {
  return botId !== undefined && event.botId !== undefined && event.botId !== botId;
}

/** The message that a platform means: its bot's own, which has a longer id where another bot's had its id before. */
export async function findOfBot(
  inbox: Pick<GatewayStore["inbox"], "find">,
  message: PlatformMessage & OfBot,
): ReturnType<GatewayStore["inbox"]["find"]> {
  const row = await inbox.find(message);
  if (message.botId === undefined || (row !== undefined && !isOfAnotherBot(row.payload, message))) return row;
  return inbox.find({ ...message, messageId: botKey(message, message.messageId) });
}
