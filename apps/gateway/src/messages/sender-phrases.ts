import { languageOf, type Phrases, phrasesFor } from "@signalbox/phrases";
import type { InboxId } from "@signalbox/store";
import type { Agent } from "../configure/agents.ts";
import { findLastText } from "./find-last-text.ts";
import type { PlacedMessage, ServiceStore } from "./service-store.ts";

/**
 * Returns phrases for the sender of a command. If the command does not indicate a language, the sender's earlier
 * messages are used.
 */
export async function getSenderPhrases(
  { store }: { readonly store: { readonly inbox: ServiceStore["inbox"] } },
  { language }: Agent,
  { id, sessionKey, stored: { event } }: PlacedMessage & { readonly id: InboxId },
): Promise<Phrases> {
  const set = language ?? languageOf(event.text);
  const person = { sessionKey, senderId: event.sender.id };
  return phrasesFor(set, set === undefined ? await findLastText(store, person, id) : "");
}
