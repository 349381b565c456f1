// Candidate file for an agent-loop harness: `Agent` over the Anthropic adapter, and over an in-process model. With
// BENCH_API=runAgentLoop it is that in place of `Agent`; the in-process model has its events ready (`streamOf`), and
// with BENCH_MODEL=generator it is an async generator. BENCH_AGENT_CORE and BENCH_LLM_PROVIDERS name built `dist`
// folders; without them the installed packages are measured.
import { callId, parsePrompt, SYSTEM, toolSpec, turnOf } from "../lib/plan.mjs";

const {
  BENCH_AGENT_CORE: core,
  BENCH_LLM_PROVIDERS: providers,
  BENCH_API: api = "Agent",
  BENCH_MODEL: kind = "ready",
} = process.env;

export const meta = {
  label: `agent-core (${api}) + llm-providers`,
  mockLabel: `agent-core (${api}, ${kind} events)`,
  wire: "anthropic",
  deps: {},
};

export async function load() {
  const [{ Agent, runAgentLoop, streamOf }, { anthropicMessages }] = await Promise.all([
    import(core ? `file://${core}/index.js` : "@signalbox/agent-core"),
    import(providers ? `file://${providers}/anthropic/index.js` : "@signalbox/llm-providers/anthropic"),
  ]);
  const ask = api === "Agent" ? withAgent(Agent) : inOneRun(runAgentLoop);
  return { ask, connect: anthropicMessages.connect, streamed: kind === "ready" ? streamOf : generated };
}

const model = {
  id: "bench",
  provider: "anthropic",
  api: "anthropic-messages",
  contextWindow: 200_000,
  maxOutputTokens: 4_096,
  input: ["text"],
  thinking: [],
  tools: "native",
};

/** A conversation with one prompt. */
function withAgent(Agent) {
  return (prompt, options, tools, onEvent) => {
    const agent = new Agent({ ...options, system: { stable: SYSTEM }, tools });
    agent.subscribe(onEvent);
    return agent.prompt(prompt);
  };
}

/** A run without an object that is kept for more. */
function inOneRun(runAgentLoop) {
  return (prompt, options, tools, onEvent) => {
    const input = [{ role: "user", content: prompt, timestamp: Date.now() }];
    return runAgentLoop({ system: { stable: SYSTEM }, history: [], input, tools }, options, onEvent);
  };
}

function runner(ask, streamFor) {
  return {
    async run(prompt, { onDelta, onTool, maxTurns }) {
      const echo = {
        name: toolSpec.name,
        description: toolSpec.description,
        inputSchema: toolSpec.schema,
        effects: "none",
        execution: "parallel",
        execute: async (call) => ({ content: [{ type: "text", text: onTool(call.args) }] }),
      };
      const options = { model, stream: streamFor(prompt), limits: { turns: maxTurns } };
      const result = await ask(prompt, options, [echo], (event) => {
        if (event.type === "text.delta") onDelta(event.delta);
      });
      if (result.reason !== "done") throw new Error(result.error?.message ?? result.reason);
      return result.text;
    },
  };
}

export function create({ ask, connect }, { baseURL }) {
  const stream = connect({ apiKey: "k", baseUrl: baseURL });
  return runner(ask, () => stream);
}

const START = {
  type: "start",
  request: { api: model.api, provider: model.provider, model: model.id },
  warnings: [],
};

function answer(turn) {
  const events = [START];
  const { api, provider, id } = model;
  const content = [];
  if (turn.type === "text") {
    let text = "";
    events.push({ type: "block.start", index: 0, block: { type: "text" } });
    for (const delta of turn.deltas) {
      text += delta;
      events.push({ type: "text.delta", index: 0, delta });
    }
    content.push({ type: "text", text });
    events.push({ type: "block.end", index: 0, block: content[0] });
  } else {
    for (let index = 0; index < turn.calls.length; index++) {
      const call = turn.calls[index];
      const head = { type: "toolCall", id: callId("toolu_", call.index), name: call.name };
      let argsText = "";
      events.push({ type: "block.start", index, block: head });
      for (const delta of call.pieces) {
        argsText += delta;
        events.push({ type: "tool.delta", index, delta });
      }
      content.push({ ...head, args: JSON.parse(argsText), argsText });
      events.push({ type: "block.end", index, block: content[index] });
    }
  }
  const stopReason = turn.type === "text" ? "end_turn" : "tool_use";
  const message = {
    role: "assistant",
    content,
    api,
    provider,
    model: id,
    stopReason,
    timestamp: Date.now(),
  };
  events.push({ type: "finish", message });
  return events;
}

async function* generated(events) {
  for (const event of events) yield event;
}

export function createMock({ ask, streamed }) {
  return runner(ask, (prompt) => {
    const plan = parsePrompt(prompt);
    let turn = 0;
    return () => streamed(answer(turnOf(plan, turn++)));
  });
}
