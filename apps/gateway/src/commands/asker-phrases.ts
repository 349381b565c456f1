import type { Phrases } from "@signalbox/phrases";
import type { PhrasesOf } from "@signalbox/setup";
import type { QueuedMessage } from "../path/4-queue/message.ts";
import type { GatewayStore } from "../store.ts";

/** How far back is looked for words of whoever asks. */
const LOOKED_AT = 20;

/**
 * The words for whoever sent a command. Commands are the same letters in every language, so what their sender said
 * before in the conversation counts, too.
 */
export async function phrasesToAsker(
  { store, phrasesOf }: { readonly store: Pick<GatewayStore, "inbox">; readonly phrasesOf: PhrasesOf },
  { id, agentId, sessionKey, stored: { event } }: QueuedMessage,
): Promise<Phrases> {
  const rows = await store.inbox.list({ sessionKey, before: id, limit: LOOKED_AT });
  const before = rows.find(
    ({ kind, senderId, payload }) =>
      kind === "message" && senderId === event.sender.id && !payload.event.text.startsWith("/"),
  );
  const text = `${event.text}\n${before?.payload.event.text ?? ""}`;
  return phrasesOf({ agentId, stored: { event: { text } } });
}
