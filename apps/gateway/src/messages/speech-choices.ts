import type { KvStore } from "@signalbox/store";
import type { SpeechMode } from "../configure/agents.ts";

const NAMESPACE = "speech";

export const SPEECH_MODES: readonly SpeechMode[] = ["never", "voice", "always"];

/** The choices of people about spoken answers, for each agent. */
export interface SpeechChoices {
  get(agentId: string, person: string): Promise<SpeechMode | undefined>;
  /** @param mode undefined removes the choice */
  set(agentId: string, person: string, mode: SpeechMode | undefined): Promise<void>;
}

export function createSpeechChoices(kv: Pick<KvStore, "get" | "set" | "delete">): SpeechChoices {
  const getKey = (agentId: string, person: string) => `${agentId} ${person}`;
  return {
    async get(agentId, person) {
      const stored = await kv.get(NAMESPACE, getKey(agentId, person));
      return SPEECH_MODES.find((mode) => mode === stored);
    },
    async set(agentId, person, mode) {
      const key = getKey(agentId, person);
      if (mode === undefined) await kv.delete(NAMESPACE, key);
      else await kv.set(NAMESPACE, key, mode);
    },
  };
}
