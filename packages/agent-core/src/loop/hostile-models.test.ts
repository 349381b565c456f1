import { describe, expect, it } from "vitest";
import { run } from "../../test/run.ts";
import {
  assistant,
  lines,
  MODEL,
  SYSTEM,
  type Turn,
  text,
  tool,
  toolCall,
  usage,
} from "../../test/scripted.ts";
import { untyped } from "../../test/untyped.ts";
import {
  Agent,
  type AssistantMessage,
  type Block,
  type ModelEvent,
  type StopReason,
  type Usage,
} from "../index.ts";

describe("a turn of an untyped adapter", () => {
  it("may use an unknown stop reason", async () => {
    const stopReason = untyped<StopReason>('"eos"');
    const { result } = await run([assistant("hm", { stopReason })]);
    expect(result).toMatchObject({ reason: "error", error: { code: "protocol" }, text: "hm" });
    const called = await run(
      [assistant([toolCall("a", "t")], { stopReason })],
      {},
      { tools: [tool("t", "x")] },
    );
    expect(called.result.reason).toBe("error");
  });

  it.each([
    "null",
    "7",
    "{}",
    '{"role":"assistant"}',
    '{"role":"assistant","content":"text","stopReason":"end_turn"}',
    '{"role":"assistant","content":[],"stopReason":{}}',
  ])("may be missing: %s", async (json) => {
    const message = untyped<AssistantMessage>(json);
    const turn: Turn = async function* () {
      yield { type: "text.delta", index: 0, delta: "so far" };
      yield { type: "finish", message };
    };
    const { result } = await run([turn]);
    expect(result).toMatchObject({ reason: "error", error: { code: "protocol" }, text: "so far" });
  });

  it("may contain incomplete calls and invalid blocks", async () => {
    const content = untyped<Block[]>(
      `[null, {"type":"text"}, {"type":"opaque"}, {"type":"novel","text":"x"}, {"type":"text","text":"hi"},
        {"type":"toolCall","args":{}}, {"type":"toolCall","id":"b","name":"t","args":[]},
        {"type":"toolCall","id":"c","name":"t","args":{"n":1}}]`,
    );
    const message = { ...assistant(""), content, stopReason: "tool_use" } as const;
    const turn: Turn = async function* () {
      yield { type: "finish", message };
    };
    const { result, asked } = await run([turn, "ok"], {}, { tools: [tool("t", "fine")] });
    expect(result.reason).toBe("done");
    expect(lines(asked.at(-1)?.messages ?? [])).toEqual([
      "user: go",
      "assistant: hi →#call_2 →t#b →t#c",
      expect.stringMatching(/^result#call_2: There is no tool ""/),
      expect.stringMatching(/^result#b: The arguments of "t" are not a JSON object/),
      "result#c: fine",
    ]);
  });
});

describe("events of an untyped stream", () => {
  const finish = JSON.stringify({ type: "finish", message: assistant("hi") });
  const shown = async (...events: string[]): Promise<{ text: string; shown: string[]; end: string }> => {
    const seen: string[] = [];
    const texts: string[] = [];
    async function* stream(): AsyncGenerator<ModelEvent> {
      for (const event of events) yield untyped<ModelEvent>(event);
    }
    const agent = new Agent({ model: MODEL, stream, system: SYSTEM });
    agent.subscribe((event) => {
      if (event.type === "text.delta") seen.push(event.delta);
      texts.push(agent.streaming.text);
      expect(Array.isArray(agent.streaming.blocks)).toBe(true);
    });
    const result = await agent.prompt("go");
    return { text: texts.join(""), shown: seen, end: result.error?.code ?? result.text };
  };

  it.each([
    '{"type":"text.delta","index":0}',
    '{"type":"text.delta","index":0,"delta":null}',
    '{"type":"text.delta","index":0,"delta":7}',
    '{"type":"text.delta","index":0,"delta":{}}',
    '{"type":"thinking.delta","index":0,"delta":null}',
    '{"type":"tool.delta","index":0}',
    '{"type":"block.start","index":0}',
    '{"type":"block.start","index":0,"block":{"type":"toolCall"}}',
    '{"type":"block.end","index":0,"block":null}',
    '{"type":"block.end","index":0,"block":{"type":"text"}}',
    '{"type":"block.end","index":1e9,"block":{"type":"text","text":"x"}}',
    '{"type":"tool.delta","index":-1,"delta":"x"}',
    '{"type":"tool.delta","index":"length","delta":"x"}',
    '{"type":"text.delta","index":"length","delta":"x"}',
    '{"type":"text.delta","delta":"x"}',
    '{"type":"usage"}',
    '{"type":"attempt"}',
    '{"type":"start"}',
    '{"type":"novel"}',
    "{}",
    "[]",
  ])("are skipped if they are invalid: %s", async (event) => {
    expect(await shown(event, finish)).toEqual({ text: "", shown: [], end: "hi" });
  });

  it.each(["null", "7", '"text.delta"', '{"type":"error"}', '{"type":"error","error":7,"partial":{}}'])(
    "ends the turn where it is nothing at all: %s",
    async (event) => {
      const delta = '{"type":"text.delta","index":0,"delta":"so far"}';
      expect(await shown(delta, event, finish)).toMatchObject({ shown: ["so far"], end: "protocol" });
    },
  );

  it.each(["null", "{}", '{"role":"assistant"}'])(
    "says what went wrong beside a turn of %s",
    async (partial) => {
      const error = { code: "auth", message: "no such key", retryable: false, emitted: false, scope: "key" };
      const event = `{"type":"error","error":${JSON.stringify(error)},"partial":${partial}}`;
      expect(await shown(event)).toMatchObject({ end: "auth" });
    },
  );

  it("may return no promise, or throw, after the end", async () => {
    const last: IteratorResult<ModelEvent> = untyped(`{"done":false,"value":${finish}}`);
    const odd: (() => unknown)[] = [
      () => last,
      () => null,
      () => {
        throw new Error("over");
      },
    ];
    for (const after of odd) {
      let calls = 0;
      const iterator: AsyncIterator<ModelEvent> = { next: async () => last };
      Object.assign(iterator, { next: () => (calls++ === 0 ? last : after()) });
      const { result } = await run([() => ({ [Symbol.asyncIterator]: () => iterator })]);
      expect(result).toMatchObject({ reason: "done", text: "hi" });
    }
  });

  it("is not closed twice if it fails after the end", async () => {
    const last: IteratorResult<ModelEvent> = untyped(`{"done":false,"value":${finish}}`);
    let asked = 0;
    let returned = 0;
    const iterator: AsyncIterator<ModelEvent> = {
      next: async () => {
        if (asked++ === 0) return last;
        throw new Error("over");
      },
      return: async () => {
        returned++;
        return { done: true, value: undefined };
      },
    };
    const { result } = await run([() => ({ [Symbol.asyncIterator]: () => iterator })]);
    expect(result).toMatchObject({ reason: "done", text: "hi" });
    expect({ asked, returned }).toEqual({ asked: 2, returned: 0 });
  });
});

describe("invalid usage", () => {
  const odd = [-1e9, 1e308, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 60];
  const call = toolCall("a", "t");
  const spending = (spent: Usage): Turn[] => [
    assistant([call], { usage: spent }),
    ...Array.from({ length: 20 }, (_, i) =>
      assistant([toolCall(`b${i}`, "t", { i })], { usage: usage(10, 10, 10) }),
    ),
  ];

  it.each(odd)("does not delay a limit: %d", async (count) => {
    const tools = [tool("t", "x")];
    const money = await run(spending(usage(10, 10, count)), { limits: { costMicros: 50 } }, { tools });
    expect(money.result).toMatchObject({ reason: "limit", limit: "costMicros" });
    expect(money.result.used.usage.costMicros).toBe(50);
    const tokens = await run(spending(usage(count, count)), { limits: { outputTokens: 50 } }, { tools });
    expect(tokens.result).toMatchObject({ reason: "limit", limit: "outputTokens" });
    const { input, output } = tokens.result.used.usage;
    for (const sum of [input.total, input.uncached, output.total])
      expect(Number.isSafeInteger(sum)).toBe(true);
    const kept = tokens.result.messages.find((message) => message.role === "assistant");
    expect(kept?.role === "assistant" && kept.usage?.output.total).toBeUndefined();
  });

  it.each(odd)("of a failed attempt is not counted: %d", async (count) => {
    const turn: Turn = async function* () {
      const failure = {
        provider: "p",
        model: "m",
        code: "network",
        message: "x",
        usage: usage(count, count, count),
      } as const;
      yield { type: "attempt", failure, next: { kind: "retry", provider: "p", model: "m", delayMs: 0 } };
      yield { type: "finish", message: assistant("hi", { usage: usage(5, 5, 5) }) };
    };
    const { result } = await run([turn], { limits: { outputTokens: 100, costMicros: 100 } });
    expect(result.used.usage).toEqual(usage(5, 5, 5));
  });

  it("rounds fractions up, and accepts counts of any form", async () => {
    const part = await run([assistant("x", { usage: usage(1.2, 3.7, 0.1) })]);
    expect(part.result.used.usage).toMatchObject({ output: { total: 4 }, costMicros: 1 });
    for (const json of ["null", "7", "{}", '{"input":null}', '{"input":{"total":"9"},"output":[]}']) {
      const { result } = await run([assistant("x", { usage: untyped<Usage>(json) })]);
      expect(result.reason).toBe("done");
      expect(result.used.usage.input.total).toBeUndefined();
    }
  });
});

describe("a lone surrogate", () => {
  const half = "\ud83d";

  it("in a model's text is neither stored nor sent again", async () => {
    const call = {
      ...toolCall("a", "t", { [`k${half}`]: [`v${half}`] }),
      argsText: `{"k\\ud83d":["v\\ud83d"]}`,
    };
    const said = assistant([{ type: "text", text: `hi ${half}` }, { type: "thinking", text: half }, call]);
    const given: unknown[] = [];
    const t = tool("t", async ({ args }) => {
      given.push(args);
      return text(`found ${half}`);
    });
    const { result, asked } = await run([said, "ok"], {}, { tools: [t] });
    expect(given).toEqual([{ "k\ufffd": ["v\ufffd"] }]);
    for (const kept of [result.messages, asked.at(-1)?.messages]) {
      expect(JSON.stringify(kept)).not.toMatch(/\\ud83d/i);
    }
    const sent = asked.at(-1)?.messages[1];
    expect(sent?.role === "assistant" && sent.content.at(-1)).toMatchObject({
      argsText: '{"k\ufffd":["v\ufffd"]}',
    });
  });
});
