import { languageOf, type Phrases, phrasesFor } from "@signalbox/phrases";
import type { InboxId } from "@signalbox/store";
import type { Agent } from "../configure/agents.ts";
import { lastWords } from "./last-words.ts";
import type { PlacedMessage, ServiceStore } from "./service-store.ts";

/** The phrases for the sender of a command; if the command shows no language, in that of what they wrote before. */
export async function phrasesToAsker(
  { store }: { readonly store: { readonly inbox: Pick<ServiceStore["inbox"], "list"> } },
  { language }: Pick<Agent, "language">,
  { id, sessionKey, stored: { event } }: PlacedMessage & { readonly id: InboxId },
): Promise<Phrases> {
  const set = language ?? languageOf(event.text);
  const person = { sessionKey, senderId: event.sender.id };
  return phrasesFor(set, set === undefined ? await lastWords(store, person, id) : "");
}
