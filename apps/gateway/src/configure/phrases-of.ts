import { type Phrases, phrasesFor } from "@signalbox/phrases";
import type { Agents } from "./agents.ts";

/** What of a message to an agent decides in which language the gateway speaks to its sender. */
export interface Written {
  readonly agentId: string;
  readonly stored: { readonly event: { readonly text: string } };
}

export type PhrasesOf = (written: Written) => Phrases;

/** The gateway's words in the language of the agent, else in that of the message. */
export function createPhrasesOf(agents: Pick<Agents, "get">): PhrasesOf {
  return ({ agentId, stored }) => phrasesFor(agents.get(agentId)?.language, stored.event.text);
}
