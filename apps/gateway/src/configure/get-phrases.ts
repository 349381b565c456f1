import { type Phrases, phrasesFor } from "@signalbox/phrases";
import type { LiveConfig } from "./live-config.ts";

/** The fields of a message that determine the language of the gateway's own texts. */
export interface Written {
  readonly agentId: string;
  readonly stored: { readonly event: { readonly text: string } };
}

/** Returns phrases in the agent's language, or in the language of the message if the agent has none. */
export function getPhrases(
  { config }: { readonly config: LiveConfig },
  { agentId, stored }: Written,
): Phrases {
  return phrasesFor(config.current().agents.get(agentId)?.language, stored.event.text);
}
