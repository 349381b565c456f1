import type { MessageEvent } from "../contract/events.ts";
import { deadline } from "../host/deadline.ts";
import type { Account } from "./accounts.ts";

/** Time limit for the platform's response, in milliseconds. */
const RESOLVE_MS = 3_000;

/** Returns the name of a sender from the event, otherwise from the platform, otherwise the id. Never rejects. */
export async function resolveSenderName(
  { sender }: Pick<MessageEvent, "sender">,
  account: Account | undefined,
): Promise<string> {
  if (sender.name !== undefined) return sender.name;
  if (account?.running.resolve === undefined) return sender.id;
  const limit = deadline(RESOLVE_MS);
  const person = await account.running.resolve(sender.id, limit.signal).catch(() => undefined);
  limit.end();
  return person?.name ?? sender.id;
}
