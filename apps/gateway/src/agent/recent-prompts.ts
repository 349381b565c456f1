import type { BuiltPrompt, PromptSection } from "@signalbox/prompt";
import type { PromptedTurn } from "./system-prompt.ts";

type BuildSystemPrompt = (turn: PromptedTurn) => Promise<BuiltPrompt>;

/** The texts of the latest prompt of each agent. They are only in memory, because the store has the sizes alone. */
export interface RecentPrompts {
  /** Returns the sections of the latest prompt in a session, if it is the latest one of the agent. */
  get(agentId: string, sessionKey: string): readonly PromptSection[] | undefined;
}

/** Wraps a function that builds prompts, and keeps the latest prompt of each agent since the start. */
export function keepRecentPrompts(build: BuildSystemPrompt): {
  readonly buildSystemPrompt: BuildSystemPrompt;
  readonly recentPrompts: RecentPrompts;
} {
  const latest = new Map<
    string,
    { readonly sessionKey: string; readonly sections: readonly PromptSection[] }
  >();
  return {
    async buildSystemPrompt(turn) {
      const prompt = await build(turn);
      latest.set(turn.agent.id, { sessionKey: turn.sessionKey, sections: prompt.sections });
      return prompt;
    },
    recentPrompts: {
      get(agentId, sessionKey) {
        const prompt = latest.get(agentId);
        return prompt?.sessionKey === sessionKey ? prompt.sections : undefined;
      },
    },
  };
}
