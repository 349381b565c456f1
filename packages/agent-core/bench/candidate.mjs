// Candidate file for an agent-loop harness: `Agent` over the Anthropic adapter, and over an in-process model.
// BENCH_AGENT_CORE and BENCH_LLM_PROVIDERS name built `dist` folders; without them the installed packages are measured.
import { callId, parsePrompt, SYSTEM, toolSpec, turnOf } from "../lib/plan.mjs";

export const meta = {
  label: "agent-core + llm-providers",
  mockLabel: "agent-core",
  wire: "anthropic",
  deps: {},
};

const { BENCH_AGENT_CORE: core, BENCH_LLM_PROVIDERS: providers } = process.env;

export async function load() {
  const [{ Agent }, { connectAnthropic }] = await Promise.all([
    import(core ? `file://${core}/index.js` : "@signalbox/agent-core"),
    import(providers ? `file://${providers}/anthropic/index.js` : "@signalbox/llm-providers/anthropic"),
  ]);
  return { Agent, connectAnthropic };
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

function runner(Agent, streamFor) {
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
      const agent = new Agent({
        model,
        stream: streamFor(prompt),
        system: { stable: SYSTEM },
        tools: [echo],
        limits: { turns: maxTurns },
      });
      agent.subscribe((event) => {
        if (event.type === "text.delta") onDelta(event.delta);
      });
      const result = await agent.prompt(prompt);
      if (result.reason !== "done") throw new Error(result.error?.message ?? result.reason);
      return result.text;
    },
  };
}

export function create({ Agent, connectAnthropic }, { baseURL }) {
  const stream = connectAnthropic({ apiKey: "k", baseUrl: baseURL });
  return runner(Agent, () => stream);
}

async function* answer(turn) {
  const { api, provider, id } = model;
  const content = [];
  yield { type: "start", request: { api, provider, model: id }, warnings: [] };
  if (turn.type === "text") {
    let text = "";
    yield { type: "block.start", index: 0, block: { type: "text" } };
    for (const delta of turn.deltas) {
      text += delta;
      yield { type: "text.delta", index: 0, delta };
    }
    content.push({ type: "text", text });
    yield { type: "block.end", index: 0, block: content[0] };
  } else {
    for (let index = 0; index < turn.calls.length; index++) {
      const call = turn.calls[index];
      const head = { type: "toolCall", id: callId("toolu_", call.index), name: call.name };
      let argsText = "";
      yield { type: "block.start", index, block: head };
      for (const delta of call.pieces) {
        argsText += delta;
        yield { type: "tool.delta", index, delta };
      }
      content.push({ ...head, args: JSON.parse(argsText), argsText });
      yield { type: "block.end", index, block: content[index] };
    }
  }
  const stopReason = turn.type === "text" ? "end_turn" : "tool_use";
  const message = { role: "assistant", content, api, provider, model: id, stopReason, timestamp: Date.now() };
  yield { type: "finish", message };
}

export function createMock({ Agent }) {
  return runner(Agent, (prompt) => {
    const plan = parsePrompt(prompt);
    let turn = 0;
    return () => answer(turnOf(plan, turn++));
  });
}
