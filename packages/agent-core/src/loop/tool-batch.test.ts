import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  assistant,
  collect,
  MODEL,
  SYSTEM,
  scripted,
  text,
  tool,
  toolCall,
  user,
} from "../../test/scripted.ts";
import type {
  AgentEvent,
  AgentLoopConfig,
  RunResult,
  Tool,
  ToolCallBlock,
  ToolResultMessage,
} from "../index.ts";
import { agentLoop } from "../index.ts";

interface Ran {
  readonly result: RunResult;
  readonly events: readonly AgentEvent[];
  readonly results: readonly ToolResultMessage[];
  readonly asked: ReturnType<typeof scripted>["asked"];
}

/** Runs one turn with these calls, then an answer. */
async function run(
  calls: readonly ToolCallBlock[],
  tools: readonly Tool[],
  config: Partial<AgentLoopConfig> = {},
): Promise<Ran> {
  const model = scripted(assistant(calls), "done");
  const loop = agentLoop(
    { system: SYSTEM, history: [], input: [user("go")], tools },
    { model: MODEL, stream: model.stream, ...config },
  );
  const events = await collect(loop);
  const result = await loop.result();
  const results = result.messages.filter((message) => message.role === "toolResult");
  return { result, events, results, asked: model.asked };
}

const said = (result: ToolResultMessage | undefined): string =>
  result?.content.map((block) => (block.type === "text" ? block.text : block.type)).join("") ?? "";

describe("tool calls", () => {
  it("passes the output of the schema to the tool", async () => {
    const seen: unknown[] = [];
    const schema = z.object({
      n: z.number().default(3),
      day: z.string().transform((day) => day.toUpperCase()),
    });
    const t = tool("t", async (call) => text(String(seen.push(call.args))), { inputSchema: schema });
    await run([toolCall("a", "t", { day: "mon" })], [t]);
    expect(seen).toEqual([{ n: 3, day: "MON" }]);
  });

  it("returns the problems of an invalid call to the model without running it", async () => {
    let ran = 0;
    const t = tool("t", async () => text(String(++ran)), {
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    });
    const { result, results } = await run(
      [toolCall("a", "t", { n: "x" }), toolCall("b", "t", { n: 1 })],
      [t],
    );
    expect(ran).toBe(1);
    expect(results.map((entry) => entry.isError)).toEqual([true, false]);
    expect(said(results[0])).toContain('/n: Instance type "string" is invalid. Expected "integer".');
    expect(result.reason).toBe("done");
  });

  it("turns an unknown tool, malformed JSON and a thrown error into results", async () => {
    const malformed: ToolCallBlock = {
      type: "toolCall",
      id: "b",
      name: "t",
      args: undefined,
      argsText: '{"n": ',
      argsError: "ends too early",
    };
    const t = tool("t", async () => {
      throw new Error("disk full");
    });
    const sync = tool("sync", () => {
      throw new Error("at once");
    });
    const { result, results } = await run(
      [toolCall("a", "nope"), malformed, toolCall("c", "t"), toolCall("d", "sync")],
      [t, sync],
    );
    expect(results.map(said)).toEqual([
      'There is no tool "nope". The tools are: t, sync.',
      'The arguments of "t" are not a JSON object: ends too early. Make the call again with valid JSON.',
      "disk full",
      "at once",
    ]);
    expect(results.every((entry) => entry.isError)).toBe(true);
    expect(result).toMatchObject({ reason: "done", text: "done" });
  });

  it("keeps what a schema's own code throws from breaking the run", async () => {
    const schema = z.object({}).refine(() => {
      throw new Error("schema broke");
    });
    const { results } = await run([toolCall("a", "t")], [tool("t", "never", { inputSchema: schema })]);
    expect(said(results[0])).toContain("schema broke");
  });

  it("validates arguments with an asynchronous schema", async () => {
    const schema = z.object({ n: z.number() }).refine(async ({ n }) => n > 1, "too small");
    const t = tool("t", "ran", { inputSchema: schema });
    const { results } = await run([toolCall("a", "t", { n: 1 }), toolCall("b", "t", { n: 2 })], [t]);
    expect(results.map((entry) => entry.isError)).toEqual([true, false]);
  });

  it("runs calls in order by default and parallel ones at once, with results in the order of the calls", async () => {
    const log: string[] = [];
    const { promise: quickIsOver, resolve } = Promise.withResolvers<void>();
    const body =
      (until: () => unknown, then = () => {}): Tool["execute"] =>
      async (call) => {
        log.push(`+${call.id}`);
        await until();
        log.push(`-${call.id}`);
        then();
        return text(call.id);
      };
    const moment = () => new Promise(setImmediate);
    const slow = tool(
      "slow",
      body(() => quickIsOver.then(moment)),
      { execution: "parallel" },
    );
    const quick = tool("quick", body(moment, resolve), { execution: "parallel" });
    const alone = tool("alone", body(moment));
    const { results, events } = await run(
      [
        toolCall("a", "slow"),
        toolCall("b", "quick"),
        toolCall("c", "alone"),
        toolCall("d", "alone"),
        toolCall("e", "quick"),
      ],
      [slow, quick, alone],
    );
    expect(log).toEqual(["+a", "+b", "-b", "-a", "+c", "-c", "+d", "-d", "+e", "-e"]);
    expect(results.map((entry) => entry.toolCallId)).toEqual(["a", "b", "c", "d", "e"]);
    const ends = events.filter((event) => event.type === "tool.end").map((event) => event.call.id);
    expect(ends).toEqual(["b", "a", "c", "d", "e"]);
  });

  it("limits the number of parallel calls", async () => {
    let active = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    const t = tool(
      "t",
      async () => {
        most = Math.max(most, ++active);
        if (active === 4) full.resolve();
        await full.promise;
        await new Promise(setImmediate);
        active--;
        return text("ok");
      },
      { execution: "parallel" },
    );
    const calls = Array.from({ length: 20 }, (_, i) => toolCall(`c${i}`, "t", { i }));
    const { results } = await run(calls, [t], { parallelCalls: 4 });
    expect(most).toBe(4);
    expect(results).toHaveLength(20);
  });

  it("stops a tool after its timeout and tells the model", async () => {
    let signal: AbortSignal | undefined;
    const t = tool(
      "t",
      async (_call, context) => {
        signal = context.signal;
        return new Promise(() => {});
      },
      { timeoutMs: 200 },
    );
    const { results, events } = await run([toolCall("a", "t")], [t], { abortGraceMs: 5 });
    expect(said(results[0])).toBe('"t" did not finish within 200 ms and was stopped.');
    expect(signal?.aborted).toBe(true);
    expect(events.find((event) => event.type === "tool.end")).toMatchObject({ outcome: "timeout" });
  });

  it("accepts a result that a tool returns shortly after its timeout", async () => {
    const t = tool(
      "t",
      (_call, context) =>
        new Promise((resolve) => context.signal.addEventListener("abort", () => resolve(text("half of it")))),
      { timeoutMs: 200 },
    );
    const { results } = await run([toolCall("a", "t")], [t]);
    expect(said(results[0])).toBe("half of it");
  });

  it("survives tools that return nothing, or nothing readable", async () => {
    const nothing = tool("nothing", JSON.parse("null"));
    const broken: Tool = { ...nothing, execute: async () => JSON.parse("null") };
    const { results } = await run(
      [toolCall("a", "nothing"), toolCall("b", "empty")],
      [broken, tool("empty", async () => ({ content: [] }))],
    );
    expect(results.map(said)).toEqual(['"nothing" returned nothing.', "(no output)"]);
  });

  it("shows progress to viewers, never to the model, and none after the end", async () => {
    let late: (() => void) | undefined;
    const t = tool("t", async (_call, context) => {
      context.update(text("10 %"));
      late = () => context.update(text("too late"));
      return text("all");
    });
    const { events, results } = await run([toolCall("a", "t")], [t], {
      afterToolCall: () => {
        late?.();
        return undefined;
      },
    });
    const updates = events.filter((event) => event.type === "tool.update");
    expect(updates).toEqual([{ type: "tool.update", callId: "a", partial: text("10 %") }]);
    expect(said(results[0])).toBe("all");
  });

  it("keeps details for programs and truncates long results for the model", async () => {
    const t = tool("t", async () => ({ ...text("x".repeat(500_000)), details: { rows: 7 } }));
    const { results } = await run([toolCall("a", "t")], [t]);
    expect(results[0]?.details).toEqual({ rows: 7 });
    expect(said(results[0]).length).toBeLessThanOrEqual(64_000);
    expect(said(results[0])).toContain("narrow the arguments");
  });

  it("does not run calls of a turn that did not end with tool_use", async () => {
    let ran = 0;
    const t = tool("t", async () => text(String(++ran)));
    const model = scripted(assistant([toolCall("a", "t")], { stopReason: "end_turn" }));
    const result = await agentLoop(
      { system: SYSTEM, history: [], input: [user("go")], tools: [t] },
      { model: MODEL, stream: model.stream },
    ).result();
    expect(ran).toBe(0);
    expect(result.reason).toBe("done");
    const last = result.messages.at(-1);
    expect(last?.role === "toolResult" && said(last)).toContain("ended with end_turn");
  });
});

describe("beforeToolCall", () => {
  const t = (log: unknown[] = []): Tool =>
    tool(
      "t",
      async (call) => {
        log.push(call.args);
        return text("ran");
      },
      { inputSchema: { type: "object", properties: { n: { type: "number" } } } },
    );

  it("allows, blocks and changes", async () => {
    const log: unknown[] = [];
    const calls = [toolCall("a", "t", { n: 1 }), toolCall("b", "t", { n: 2 }), toolCall("c", "t", { n: 3 })];
    const { results } = await run(calls, [t(log)], {
      beforeToolCall: ({ call }) => {
        if (call.id === "a") return undefined;
        if (call.id === "b") return { action: "block", reason: "not on Sundays" };
        return { action: "change", args: { n: 30 } };
      },
    });
    expect(log).toEqual([{ n: 1 }, { n: 30 }]);
    expect(results.map(said)).toEqual(["ran", '"t" was not allowed: not on Sundays', "ran"]);
  });

  it("checks changed arguments again", async () => {
    const log: unknown[] = [];
    const { results, events } = await run([toolCall("a", "t", { n: 1 })], [t(log)], {
      beforeToolCall: () => ({ action: "change", args: { n: "many" } }),
    });
    expect(log).toEqual([]);
    expect(said(results[0])).toContain('Expected "number"');
    expect(events.find((event) => event.type === "tool.end")).toMatchObject({ outcome: "blocked" });
  });

  it("fails closed", async () => {
    const log: unknown[] = [];
    const { results } = await run([toolCall("a", "t", { n: 1 })], [t(log)], {
      beforeToolCall: () => {
        throw new Error("policy file is gone");
      },
    });
    expect(log).toEqual([]);
    expect(said(results[0])).toContain("policy file is gone");
  });

  it("is not called for calls that cannot run", async () => {
    const asked: string[] = [];
    await run([toolCall("a", "nope"), toolCall("b", "t", { n: "x" })], [t()], {
      beforeToolCall: ({ call }) => {
        asked.push(call.id);
        return undefined;
      },
    });
    expect(asked).toEqual([]);
  });

  it("asks a person and follows the answer", async () => {
    const log: unknown[] = [];
    const calls = [toolCall("a", "t", { n: 1 }), toolCall("b", "t", { n: 2 })];
    const { results, events } = await run(calls, [t(log)], {
      beforeToolCall: ({ call }) => ({
        action: "ask",
        question: `Run ${call.id}?`,
        details: { id: call.id },
      }),
      onAsk: async ({ question, details }) =>
        question === "Run a?" && details?.id === "a"
          ? { action: "allow" }
          : { action: "deny", reason: "no time" },
    });
    expect(log).toEqual([{ n: 1 }]);
    expect(said(results[1])).toBe('"t" was not run, because the person declined: no time');
    expect(events.filter((event) => event.type === "tool.ask")).toHaveLength(2);
  });

  it("measures the time that a tool works, without the wait for a person", async () => {
    let clock = 1_000;
    const works = tool("t", async () => {
      clock += 7;
      return text("done");
    });
    const { results, events } = await run([toolCall("a", "t"), toolCall("b", "t")], [works], {
      now: () => clock,
      beforeToolCall: () => ({ action: "ask", question: "?" }),
      onAsk: async ({ call }) => {
        clock += 60_000;
        return call.id === "a" ? { action: "allow" } : { action: "deny", reason: "no" };
      },
    });
    const told = events.flatMap((event) => (event.type === "tool.end" ? [event.durationMs] : []));
    expect(told).toEqual([7, 0]);
    // A call that did not run has no duration.
    expect(results.map(({ durationMs }) => durationMs)).toEqual([7, undefined]);
  });

  it("ends the run with the pending calls without onAsk", async () => {
    const calls = [toolCall("a", "t", { n: 1 }), toolCall("b", "t", { n: 2 }), toolCall("c", "t", { n: 3 })];
    const { result, asked } = await run(calls, [t()], {
      beforeToolCall: ({ call }) => (call.id === "b" ? { action: "ask", question: "?" } : undefined),
    });
    expect(result.reason).toBe("waiting");
    expect(result.pending.map((call) => call.id)).toEqual(["b", "c"]);
    expect(result.messages.map((message) => message.role)).toEqual(["user", "assistant", "toolResult"]);
    expect(asked).toHaveLength(1);
  });

  it("ends the run with the pending calls even if a limit skips a later call", async () => {
    const p = { ...t(), execution: "parallel" } as const;
    const calls = [toolCall("a", "t", { n: 1 }), toolCall("b", "t", { n: 2 }), toolCall("c", "t", { n: 3 })];
    const { result, results } = await run(calls, [p], {
      parallelCalls: 1,
      limits: { toolCalls: 2 },
      beforeToolCall: ({ call }) => (call.id === "a" ? { action: "ask", question: "?" } : undefined),
    });
    expect(result).toMatchObject({ reason: "waiting", pending: [{ id: "a" }] });
    expect(results.map((entry) => entry.toolCallId)).toEqual(["b", "c"]);
  });

  it("does not delay parallel calls while another one waits", async () => {
    const p = { ...t(), execution: "parallel" } as const;
    const calls = [toolCall("a", "t", { n: 1 }), toolCall("b", "t", { n: 2 }), toolCall("c", "t", { n: 3 })];
    const { result, results } = await run(calls, [p], {
      beforeToolCall: ({ call }) => (call.id === "b" ? { action: "ask", question: "?" } : undefined),
    });
    expect(result.pending.map((call) => call.id)).toEqual(["b"]);
    expect(results.map((entry) => entry.toolCallId)).toEqual(["a", "c"]);
  });
});

describe("afterToolCall", () => {
  it("receives and replaces results, and its failure becomes a result", async () => {
    const calls = [toolCall("a", "t"), toolCall("b", "t", { x: 1 })];
    const { results } = await run(calls, [tool("t", "secret 123")], {
      afterToolCall: ({ call, result }) => {
        if (call.id === "b") throw new Error("redaction failed");
        return { ...result, content: [{ type: "text", text: "secret ***" }] };
      },
    });
    expect(results.map(said)).toEqual(["secret ***", "redaction failed"]);
    expect(results[1]?.isError).toBe(true);
  });
});
