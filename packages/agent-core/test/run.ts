import { expect } from "vitest";
import type { AgentEvent, AgentLoopConfig, AgentMessage, RunResult, Tool } from "../src/index.ts";
import { runAgentLoop } from "../src/index.ts";
import { orderProblems } from "./event-order.ts";
import { type Asked, MODEL, SYSTEM, scripted, type Turn, user } from "./scripted.ts";

/** Options of a run besides the model's turns. The default prompt is "go". */
export interface RunSetup {
  readonly history?: readonly AgentMessage[];
  readonly input?: readonly AgentMessage[];
  readonly tools?: readonly Tool[];
}

/** Runs a scripted model, checks the order of events, and returns the model's requests too. */
export async function run(
  turns: readonly Turn[],
  config: Partial<AgentLoopConfig> = {},
  setup: RunSetup = {},
): Promise<{ result: RunResult; asked: readonly Asked[] }> {
  const model = scripted(...turns);
  const { history = [], input = [user("go")], tools = [] } = setup;
  const events: AgentEvent[] = [];
  try {
    const result = await runAgentLoop(
      { system: SYSTEM, history, input, tools },
      { model: MODEL, stream: model.stream, ...config },
      (event) => {
        events.push(event);
      },
    );
    return { result, asked: model.asked };
  } finally {
    // A run that could not start has no events.
    if (events.length > 0) expect(orderProblems(events)).toEqual([]);
  }
}

/** A queue that returns its messages after `after` calls. */
export function queue(after: number, ...messages: string[]): () => readonly AgentMessage[] {
  let polls = 0;
  let held = messages;
  return () => {
    if (++polls <= after || held.length === 0) return [];
    const messages = held.map((content) => user(content));
    held = [];
    return messages;
  };
}
