import { deadline, type MessageEvent } from "@signalbox/channel";
import type { Account } from "../../channels.ts";

/** A platform that is asked for a name may take so long, in milliseconds. */
const RESOLVE_MS = 3_000;

/** What somebody is called: by the event, else by their platform, else by their id. Never rejects. */
export async function senderName(
  account: (channel: string, account: string) => Account | undefined,
  event: MessageEvent,
): Promise<string> {
  const { sender } = event;
  if (sender.name !== undefined) return sender.name;
  const running = account(event.channel, event.account)?.running;
  if (running?.resolve === undefined) return sender.id;
  const limit = deadline(RESOLVE_MS);
  const person = await running.resolve(sender.id, limit.signal).catch(() => undefined);
  limit.end();
  return person?.name ?? sender.id;
}
