import { describe, expect, it } from "vitest";
import {
  assistant,
  collect,
  lines,
  MODEL,
  SYSTEM,
  scripted,
  text,
  tool,
  toolCall,
  user,
} from "../../test/scripted.ts";
import { agentLoop, runAgentLoop } from "../index.ts";

/** Resolves once a value has stayed the same for several turns of the event loop. */
async function untilStill(value: () => number): Promise<void> {
  let before = -1;
  for (let turns = 0; turns < 10; turns = before === value() ? turns + 1 : 0) {
    before = value();
    await new Promise(setImmediate);
  }
}

describe("agentLoop", () => {
  it("answers a prompt, with events in the documented order", async () => {
    const model = scripted("Hello there");
    const run = agentLoop(
      { system: SYSTEM, history: [], input: [user("Hi")], tools: [] },
      { model: MODEL, stream: model.stream },
    );
    const events = await collect(run);
    expect(events.map((event) => event.type)).toEqual([
      "run.start",
      "message",
      "turn.start",
      "model.start",
      "block.start",
      "text.delta",
      "text.delta",
      "block.end",
      "message",
      "turn.end",
      "run.end",
    ]);
    expect(await run.result()).toMatchObject({ reason: "done", text: "Hello there", pending: [] });
    expect(lines(model.asked[0]?.messages ?? [])).toEqual(["user: Hi"]);
  });

  it("runs tools and returns their results to the model until it is done", async () => {
    const model = scripted(
      assistant([toolCall("a", "add", { x: 1, y: 2 })]),
      assistant([toolCall("b", "add", { x: 3, y: 4 })]),
      "3 and 7",
    );
    const add = tool("add", async (call) => text(JSON.stringify(call.args)));
    const result = await agentLoop(
      { system: SYSTEM, history: [], input: [user("Add")], tools: [add] },
      { model: MODEL, stream: model.stream },
    ).result();
    expect(result).toMatchObject({ reason: "done", text: "3 and 7", used: { turns: 3, toolCalls: 2 } });
    expect(lines(model.asked[2]?.messages ?? [])).toEqual([
      "user: Add",
      "assistant: →add#a",
      'result#a: {"x":1,"y":2}',
      "assistant: →add#b",
      'result#b: {"x":3,"y":4}',
    ]);
    expect(result.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
      "toolResult",
      "assistant",
    ]);
  });

  it("changes neither the given history nor an earlier request", async () => {
    const history = [user("one"), assistant("two")];
    const model = scripted(assistant([toolCall("a", "t")]), "done");
    await runAgentLoop(
      { system: SYSTEM, history, input: [user("three")], tools: [tool("t", "ok")] },
      { model: MODEL, stream: model.stream },
      () => {},
    );
    expect(history).toHaveLength(2);
    expect(model.asked.map((asked) => asked.messages.length)).toEqual([3, 5]);
  });

  it("waits for a slow reader", async () => {
    const pieces = 5_000;
    let given = 0;
    const run = agentLoop(
      { system: SYSTEM, history: [], input: [user("Hi")], tools: [] },
      {
        model: MODEL,
        stream: async function* (model) {
          yield { type: "block.start", index: 0, block: { type: "text" } };
          for (; given < pieces; given++) yield { type: "text.delta", index: 0, delta: "x" };
          const block = { type: "text", text: "x".repeat(pieces) } as const;
          yield { type: "block.end", index: 0, block };
          yield { type: "finish", message: assistant([block], { model: model.id }) };
        },
      },
    );
    let read = 0;
    let most = 0;
    for await (const event of run) {
      if (event.type === "text.delta") read++;
      if (read === 10) await untilStill(() => given);
      most = Math.max(most, given - read);
    }
    expect(read).toBe(pieces);
    expect(most).toBeLessThan(300);
  });

  it("is aborted if the iteration is left", async () => {
    let closed = false;
    const run = agentLoop(
      { system: SYSTEM, history: [], input: [user("Hi")], tools: [] },
      {
        model: MODEL,
        stream: async function* (_model, _context, options) {
          try {
            while (options?.signal?.aborted !== true) {
              yield { type: "text.delta", index: 0, delta: "x" };
            }
            yield {
              type: "error",
              error: { code: "aborted", message: "", retryable: false, emitted: true, scope: "provider" },
              partial: assistant("x", { stopReason: "aborted" }),
            };
          } finally {
            closed = true;
          }
        },
      },
    );
    for await (const event of run) if (event.type === "text.delta") break;
    expect(await run.result()).toMatchObject({ reason: "aborted" });
    expect(closed).toBe(true);
  });
});
