import type {
  AgentContext,
  AgentLoopConfig,
  AssistantMessage,
  Block,
  Model,
  ModelEvent,
  StreamModel,
  Tool,
} from "../src/index.ts";
import { Agent, agentLoop, runAgentLoop, streamOf } from "../src/index.ts";
import type { Outcome, PlannedTurn } from "./plan.ts";

const MODEL: Model = {
  id: "in-process",
  provider: "bench",
  api: "bench",
  contextWindow: 1_000_000,
  maxOutputTokens: 8_192,
  input: ["text"],
  thinking: [],
  tools: "native",
};
const SYSTEM = { stable: "You are a helpful assistant." };
const REQUEST = { api: "bench", provider: "bench", model: "in-process" };

function finish(content: readonly Block[], stopReason: AssistantMessage["stopReason"]): ModelEvent {
  return {
    type: "finish",
    message: {
      role: "assistant",
      content,
      api: "bench",
      provider: "bench",
      model: "in-process",
      stopReason,
      usage: USAGE,
      timestamp: 1,
    },
  };
}

const USAGE = {
  input: { total: 10, uncached: 10, cacheRead: 0, cacheWrite: 0 },
  output: { total: 15, reasoning: 0 },
  source: "reported",
} as const;

/** A provider as an adapter writes one: builds each block from its deltas, parses arguments at the end of the block. */
function* turnEvents(turn: PlannedTurn): Generator<ModelEvent> {
  yield { type: "start", request: REQUEST, warnings: [] };
  if (turn.kind === "text") {
    let text = "";
    yield { type: "block.start", index: 0, block: { type: "text" } };
    for (const delta of turn.deltas) {
      text += delta;
      yield { type: "text.delta", index: 0, delta };
    }
    const block = { type: "text", text } as const;
    yield { type: "block.end", index: 0, block };
    yield finish([block], "end_turn");
    return;
  }
  const content: Block[] = [];
  for (let index = 0; index < turn.calls.length; index++) {
    const call = turn.calls[index];
    if (call === undefined) continue;
    let argsText = "";
    yield { type: "block.start", index, block: { type: "toolCall", id: call.id, name: "echo" } };
    for (const delta of call.pieces) {
      argsText += delta;
      yield { type: "tool.delta", index, delta };
    }
    const block: Block = {
      type: "toolCall",
      id: call.id,
      name: "echo",
      args: JSON.parse(argsText),
      argsText,
    };
    content.push(block);
    yield { type: "block.end", index, block };
  }
  yield finish(content, "tool_use");
}

async function* waitedFor(events: Iterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  for (const event of events) yield event;
}

function modelOf(plan: readonly PlannedTurn[], streamed: typeof streamOf): StreamModel {
  let at = 0;
  return () => streamed(turnEvents(plan[at++] ?? { kind: "text", deltas: [] }));
}

const echo = (count: () => void, execution: "sequential" | "parallel"): Tool => ({
  name: "echo",
  description: "Returns its value.",
  inputSchema: SCHEMA,
  effects: "none",
  execution,
  async execute(call) {
    count();
    const value =
      typeof call.args === "object" && call.args !== null && "value" in call.args ? call.args.value : "";
    return { content: [{ type: "text", text: `ok ${value}` }] };
  },
});

const SCHEMA = {
  type: "object",
  properties: { value: { type: "string", description: "the value" } },
  required: ["value"],
  additionalProperties: false,
};

/** As an application would: a new `Agent`, a listener, one prompt. Events are there before they are asked for. */
export function runAgent(plan: readonly PlannedTurn[]): Promise<Outcome> {
  return runAgentOver(plan, streamOf);
}

/** The same over a model that is an async generator: each event is waited for. */
export function runAgentWaiting(plan: readonly PlannedTurn[]): Promise<Outcome> {
  return runAgentOver(plan, waitedFor);
}

async function runAgentOver(plan: readonly PlannedTurn[], streamed: typeof streamOf): Promise<Outcome> {
  let calls = 0;
  let deltas = 0;
  const agent = new Agent({
    model: MODEL,
    stream: modelOf(plan, streamed),
    system: SYSTEM,
    tools: [echo(() => calls++, executionOf(plan))],
    limits: { turns: plan.length + 1 },
  });
  agent.subscribe((event) => {
    if (event.type === "text.delta") deltas++;
  });
  const result = await agent.prompt("go");
  return { text: result.text, calls, deltas };
}

/** The same as one run, its events as calls. */
export async function runEmitting(plan: readonly PlannedTurn[]): Promise<Outcome> {
  let calls = 0;
  let deltas = 0;
  const { text } = await runAgentLoop(
    contextOf(plan, () => calls++),
    configOf(plan),
    (event) => {
      if (event.type === "text.delta") deltas++;
    },
  );
  return { text, calls, deltas };
}

/** The same through the iterator. */
export async function runIterated(plan: readonly PlannedTurn[]): Promise<Outcome> {
  let calls = 0;
  let deltas = 0;
  const run = agentLoop(
    contextOf(plan, () => calls++),
    configOf(plan),
  );
  for await (const event of run) if (event.type === "text.delta") deltas++;
  return { text: (await run.result()).text, calls, deltas };
}

function contextOf(plan: readonly PlannedTurn[], count: () => void): AgentContext {
  return {
    system: SYSTEM,
    history: [],
    input: [{ role: "user", content: "go", timestamp: 1 }],
    tools: [echo(count, executionOf(plan))],
  };
}

function configOf(plan: readonly PlannedTurn[]): AgentLoopConfig {
  return { model: MODEL, stream: modelOf(plan, streamOf), limits: { turns: plan.length + 1 } };
}

function executionOf([first]: readonly PlannedTurn[]): "sequential" | "parallel" {
  return first?.kind === "calls" && first.calls.length > 1 ? "parallel" : "sequential";
}
