import { type Tool, toolSpec } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import { eventContext, formatBody, prefixOf } from "@signalbox/prompt";
import type { Agent } from "../agents.ts";
import type { Models } from "../models.ts";
import type { AgentsSkills } from "../skills.ts";
import { createSystemPrompt } from "./system-prompt.ts";

export interface PromptAheadPorts {
  readonly skills: Pick<AgentsSkills, "seen">;
  readonly models: Pick<Models, "of">;
}

/** What a prompt is built for where nobody has said anything. */
const NOBODY: MessageEvent = {
  type: "message",
  eventId: "",
  messageId: "",
  channel: "",
  account: "",
  conversation: { id: "", kind: "direct" },
  address: "",
  sender: { id: "", isBot: false, isSelf: false },
  addressed: "dm",
  timestamp: 0,
  text: "",
  media: [],
  mentions: [],
};

const SENDER = { role: "guest", senderName: "", isOwnClient: false };

/**
 * Builds an agent's prompt for nobody and drops it, so that what reads, builds and compares prompts is compiled. Skills
 * are as they were last seen: what a new look finds is kept for a moment, and a turn within it would not look itself.
 * Nothing is told of problems: the first turn will tell.
 */
export function createPromptAhead({
  skills,
  models,
}: PromptAheadPorts): (agent: Agent, tools: readonly Tool[]) => Promise<void> {
  const systemPrompt = createSystemPrompt({
    skills: { forAgent: async (agent) => skills.seen(agent) },
    documentation: { dir: "", files: [] },
    account: () => undefined,
    // Other people's code hears of turns alone.
    hooks: { modify: async (_point, payload) => payload },
    listeners: { hearsOwners: () => false },
    system: "",
    logger: { warn() {} },
    now: Date.now,
  });
  return async (agent, tools) => {
    const agentModel = models.of(agent);
    if (agentModel === undefined) return;
    const { sections } = await systemPrompt({
      agent,
      agentModel,
      opening: "",
      sessionKey: "",
      event: NOBODY,
      isSubAgent: false,
      // A guest's turn neither reads nor ends what a new agent is told for its first conversation.
      role: "guest",
      tools,
      pages: [],
      files: [],
      answers: 0,
      memory: [],
    });
    prefixOf(sections, tools.map(toolSpec)).hashes();
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    eventContext(NOBODY, { ...SENDER, timeZone, now: 0 });
    formatBody({ ...SENDER, ...NOBODY });
  };
}
