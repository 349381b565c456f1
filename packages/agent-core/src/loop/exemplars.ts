import type { AgentLoopConfig } from "../config.ts";
import { Conversation } from "../conversation/conversation.ts";
import type { AssistantMessage } from "../messages.ts";
import { keepShapes } from "../shapes.ts";
import { streamOf } from "../stream-of.ts";
import { TurnCalls } from "./calls.ts";
import { StreamedTurn } from "./model-turn.ts";
import { Run } from "./run.ts";

/** What a run needs, and nothing in it. */
export const NOTHING_TO_RUN: AgentLoopConfig = {
  model: {
    id: "",
    provider: "",
    api: "",
    contextWindow: 1,
    maxOutputTokens: 1,
    input: [],
    thinking: [],
    tools: "none",
  },
  stream: () => streamOf([]),
};

const MESSAGE: AssistantMessage = {
  role: "assistant",
  content: [],
  api: "",
  provider: "",
  model: "",
  stopReason: "end_turn",
  timestamp: 0,
};

let kept = false;

/** Keeps one object of each class that a run is made of, with nothing in it; the run has those it makes itself. */
export function keepRunShapes(): void {
  if (kept) return;
  kept = true;
  const run = new Run(new Conversation([]), { system: { stable: "" }, tools: [] }, NOTHING_TO_RUN, () => {});
  keepShapes(run, run.repeats, new StreamedTurn(run), new TurnCalls(run, MESSAGE, []));
}
