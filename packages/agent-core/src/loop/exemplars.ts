import type { AgentLoopConfig } from "../config.ts";
import { Conversation } from "../conversation/conversation.ts";
import type { AssistantMessage } from "../messages.ts";
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

const run = new Run(
  new Conversation([]),
  { system: { stable: "" }, tools: [] },
  NOTHING_TO_RUN,
  () => undefined,
);

/** Objects of the classes that runs are made of, for `keepShapes`: the run has those it makes itself. */
export const RUN_SHAPES: readonly object[] = [
  run,
  run.repeats,
  new StreamedTurn(run),
  new TurnCalls(run, MESSAGE, []),
];
