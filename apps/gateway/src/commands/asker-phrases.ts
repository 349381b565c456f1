import { languageOf, type Phrases, phrasesFor } from "@signalbox/phrases";
import { lastWords } from "@signalbox/service";
import type { Agent } from "@signalbox/setup";
import type { QueuedMessage } from "../path/4-queue/message.ts";
import type { GatewayStore } from "../store.ts";

/** The words for whoever sent a command; what tells no language is said in that of what they wrote before. */
export async function phrasesToAsker(
  { store }: { readonly store: Pick<GatewayStore, "inbox"> },
  { language }: Agent,
  { id, sessionKey, stored: { event } }: QueuedMessage,
): Promise<Phrases> {
  const set = language ?? languageOf(event.text);
  const person = { sessionKey, senderId: event.sender.id };
  return phrasesFor(set, set === undefined ? await lastWords(store, person, id) : "");
}
