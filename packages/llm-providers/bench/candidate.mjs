// Candidate file for an agent-loop harness: this package's Anthropic stream under a hand-written loop.
// BENCH_LLM_PROVIDERS may name a built `dist` folder; otherwise the installed package is measured.
import { callId, parsePrompt, SYSTEM, toolSpec, turnOf } from "../lib/plan.mjs";

export const meta = {
  label: "llm-providers/anthropic, own loop",
  mockLabel: "llm-providers turn writer, own loop",
  wire: "anthropic",
  deps: {},
};

const built = process.env.BENCH_LLM_PROVIDERS;
const from = (name, file) => (built ? `file://${built}/${file}` : `@signalbox/llm-providers${name}`);

export async function load() {
  const { anthropicMessages } = await import(from("/anthropic", "anthropic/index.js"));
  return { connect: anthropicMessages.connect };
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
const tools = [{ name: toolSpec.name, description: toolSpec.description, inputSchema: toolSpec.schema }];
const system = { stable: SYSTEM };

async function loop(stream, prompt, { onDelta, onTool }) {
  const messages = [{ role: "user", content: prompt, timestamp: 0 }];
  for (;;) {
    let message;
    for await (const event of stream(model, { system, messages, tools }, { maxOutputTokens: 4_096 })) {
      if (event.type === "text.delta") onDelta(event.delta);
      else if (event.type === "finish") message = event.message;
      else if (event.type === "error") throw new Error(event.error.message);
    }
    messages.push(message);
    const calls = message.content.filter((block) => block.type === "toolCall");
    if (calls.length === 0) return message.content.map((block) => block.text ?? "").join("");
    const results = await Promise.all(
      calls.map(async (call) => ({
        role: "toolResult",
        toolCallId: call.id,
        toolName: call.name,
        content: [{ type: "text", text: await onTool(call.args) }],
        isError: false,
        timestamp: 0,
      })),
    );
    messages.push(...results);
  }
}

export function create({ connect }, { baseURL }) {
  const stream = connect({ apiKey: "k", baseUrl: baseURL });
  return { run: (prompt, io) => loop(stream, prompt, io) };
}

// In process: the turn writer that every adapter uses, fed by a ready-made plan.
export async function createMock() {
  const { modelTurn } = await import(from("", "index.js"));
  return {
    run(prompt, io) {
      const plan = parsePrompt(prompt);
      let count = 0;
      const stream = (asked, _context, options) => {
        const answer = turnOf(plan, count++);
        return modelTurn({ model: asked, options }, async (turn) => {
          turn.start();
          if (answer.type === "text") {
            const index = turn.open({ type: "text" });
            for (const delta of answer.deltas) turn.append(index, delta);
            turn.close(index);
          } else {
            for (const call of answer.calls) {
              const index = turn.open({
                type: "toolCall",
                id: callId("toolu_", call.index),
                name: call.name,
              });
              for (const piece of call.pieces) turn.append(index, piece);
              turn.close(index);
            }
          }
          turn.finish(answer.type === "text" ? "end_turn" : "tool_use");
          return { pull: () => false, close: () => {} };
        });
      };
      return loop(stream, prompt, io);
    },
  };
}
