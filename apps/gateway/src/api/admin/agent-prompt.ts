import type { AgentPrompt, MessageInfo, Trace } from "@signalbox/protocol";
import { z } from "zod";
import type { GatewayContext } from "../../context.ts";
import { listMessages, readTrace } from "../../messages/traces.ts";

/** Number of recent messages to search for a prompt. */
export const MAX_PROMPT_MESSAGES = 50;

/** The trace entry for a prompt. */
export interface PromptNote extends Pick<AgentPrompt, "digest" | "model" | "sections"> {
  /** In micro-dollars per million tokens. */
  readonly prices?: { readonly input: number; readonly cacheRead: number } | undefined;
}

const note: z.ZodType<PromptNote> = z.object({
  digest: z.string(),
  model: z.string(),
  sections: z.array(z.object({ name: z.string(), part: z.string(), chars: z.number(), tokens: z.number() })),
  prices: z.object({ input: z.number(), cacheRead: z.number() }).optional(),
});

/**
 * Finds the latest recorded prompt of an agent.
 *
 * @param messages the latest messages, newest first
 */
export async function findPrompt(
  agent: string,
  messages: readonly MessageInfo[],
  readMessageTrace: (id: string) => Promise<Trace | undefined>,
): Promise<{ readonly message: MessageInfo; readonly prompt: PromptNote } | undefined> {
  for (const message of messages.filter((each) => each.agent === agent)) {
    const trace = await readMessageTrace(message.id);
    const noted = note.safeParse(trace?.entries.findLast(({ stage }) => stage === "prepare")?.data);
    if (noted.success) return { message, prompt: noted.data };
  }
  return undefined;
}

/** Returns the latest prompt of an agent from the store of a running gateway. */
export async function getAgentPrompt(
  { store }: GatewayContext,
  agent: string,
): Promise<AgentPrompt | undefined> {
  const messages = await listMessages(store, { limit: MAX_PROMPT_MESSAGES });
  const found = await findPrompt(agent, messages, (id) => readTrace(store, id));
  if (found === undefined) return undefined;
  const { message, prompt } = found;
  const { digest, model, sections } = prompt;
  return { messageId: message.id, sessionKey: message.sessionKey, at: message.at, model, digest, sections };
}
