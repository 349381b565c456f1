import type { TakeMessages } from "../config.ts";
import { AgentError } from "../errors.ts";
import type { AgentMessage } from "../messages.ts";
import { race } from "./race.ts";

/**
 * Takes what a queue of the host holds. One that has not answered by the end of the grace of a run that has to stop
 * holds nothing.
 * @throws AgentError `invalid_input`
 */
export async function takeMessages(
  source: TakeMessages | undefined,
  signal: AbortSignal,
  graceMs: number,
): Promise<readonly AgentMessage[]> {
  if (source === undefined) return [];
  const given = source();
  if (!(given instanceof Promise)) return checkInput(given);
  const taken = await race(given, { signal, graceMs });
  return taken.done ? checkInput(taken.value) : [];
}

/** @throws AgentError `invalid_input` */
export function checkInput(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  const wrong = messages.find(({ role }) => role === "assistant" || role === "toolResult");
  if (wrong === undefined) return messages;
  const what = `A message of role "${wrong.role}" belongs into the history, not into the input.`;
  throw new AgentError("invalid_input", what);
}

/** Something the loop itself tells the model. */
export function loopNote(content: string, timestamp: number): AgentMessage {
  return { role: "custom", kind: "continue", content, timestamp };
}
