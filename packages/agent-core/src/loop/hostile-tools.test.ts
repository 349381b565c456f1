import { describe, expect, it } from "vitest";
import { run } from "../../test/run.ts";
import { assistant, lines, text, tool, toolCall } from "../../test/scripted.ts";
import { untyped } from "../../test/untyped.ts";
import type { JsonValue, PendingDecision, ToolResult } from "../index.ts";
import { isDeeperThan, MAX_JSON_DEPTH } from "../json.ts";

const nested = (levels: number): string => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;

/** Values that throw when they are read. */
const unreadable = {
  bare: Object.create(null),
  getter: Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("no");
    },
  }),
  toString: { toString: () => ({}) },
  proxy: new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error("no");
      },
      get: () => {
        throw new Error("no");
      },
      has: () => {
        throw new Error("no");
      },
    },
  ),
};

const results = (asked: Awaited<ReturnType<typeof run>>["asked"]): string[] =>
  lines(asked.at(-1)?.messages ?? []).filter((line) => line.startsWith("result#"));

describe("arguments that are nested too deeply", () => {
  it.each([100, 5_000, 100_000])("become a result that the model can correct: %i levels", async (levels) => {
    const argsText = nested(levels);
    const call = { ...toolCall("a", "t"), args: JSON.parse(argsText), argsText };
    let ran = 0;
    const t = tool("t", async () => text(String(++ran)));
    const { result, asked } = await run([assistant([call]), "ok"], {}, { tools: [t] });
    expect(result.reason).toBe("done");
    expect(ran).toBe(0);
    expect(results(asked)).toEqual([expect.stringMatching(/^result#a: .*more than 64 levels/)]);
    for (const message of result.messages) expect(isDeeperThan(message, MAX_JSON_DEPTH + 4)).toBe(false);
  });

  it("run unchanged up to the maximum depth", async () => {
    const argsText = nested(MAX_JSON_DEPTH - 1);
    const call = { ...toolCall("a", "t"), args: JSON.parse(argsText), argsText };
    const { asked } = await run([assistant([call]), "ok"], {}, { tools: [tool("t", "fine")] });
    expect(results(asked)).toEqual(["result#a: fine"]);
  });

  it("do not prevent a conversation from continuing", async () => {
    const argsText = nested(5_000);
    const call = { ...toolCall("a", "t"), args: JSON.parse(argsText), argsText };
    const history = [{ role: "user", content: "go", timestamp: 1 } as const, assistant([call])];
    const { result, asked } = await run(["ok"], {}, { history, input: [], tools: [tool("t", "fine")] });
    expect(result.reason).toBe("done");
    expect(results(asked)).toEqual([expect.stringMatching(/are not a JSON object/)]);
  });
});

describe("the return value of a tool", () => {
  const noted = '(1 part of the result of "t" could not be read)';
  it.each([
    ["[null]", noted],
    ['[{"type":"text"}]', noted],
    ['[{"type":"text","text":7}]', noted],
    ['["plain"]', noted],
    ['[{"type":"text","text":"good"},{"type":"video"}]', `good ${noted}`],
    ['[{"type":"image","mimeType":"image/png"}]', noted],
    ['[{"type":"image","mimeType":"image/png","source":{"kind":"url"}}]', noted],
    ['[{"type":"image","mimeType":"image/png","source":{"kind":"base64","data":"AA=="}}]', "image"],
    ["[]", "(no output)"],
    ["7", '{"content":7}'],
  ])("is validated block by block: %s", async (content, said) => {
    const t = tool("t", async () => untyped<ToolResult>(`{"content":${content}}`));
    const { result, asked } = await run([assistant([toolCall("a", "t")]), "ok"], {}, { tools: [t] });
    expect(result.reason).toBe("done");
    expect(results(asked)).toEqual([`result#a: ${said}`]);
  });

  it.each([
    ['{"celsius":21}', '{"celsius":21}'],
    ["[1,2]", "[1,2]"],
    ["7", "7"],
    ['"sunny"', "sunny"],
  ])("is passed to the model as JSON if it is not a result: %s", async (output, said) => {
    const t = tool("t", async () => untyped<ToolResult>(output));
    const { asked } = await run([assistant([toolCall("a", "t")]), "ok"], {}, { tools: [t] });
    expect(results(asked)).toEqual([`result#a: ${said}`]);
  });

  it("that is missing becomes a failure", async () => {
    const t = tool("t", async () => untyped<{ result: ToolResult }>("{}").result);
    const { asked } = await run([assistant([toolCall("a", "t")]), "ok"], {}, { tools: [t] });
    expect(results(asked)).toEqual(['result#a: "t" returned nothing.']);
  });

  it("contains no details that cannot be stored", async () => {
    const cycle: Record<string, JsonValue> = { a: 1 };
    cycle.self = cycle;
    const odd = untyped<Record<string, JsonValue>>("{}");
    Object.assign(odd, { n: 1n });
    for (const [details, kept] of [
      [cycle, undefined],
      [odd, undefined],
      [{ fine: [1, null, { a: "b" }] }, { fine: [1, null, { a: "b" }] }],
    ] as const) {
      const entries: string[] = [];
      const t = tool("t", async () => ({ ...text("fine"), details }));
      const { result, asked } = await run(
        [assistant([toolCall("a", "t")]), "ok"],
        { onJournalEntry: (entry) => void entries.push(JSON.stringify(entry)) },
        { tools: [t] },
      );
      expect(result.reason).toBe("done");
      expect(results(asked)).toEqual(["result#a: fine"]);
      const message = result.messages.find((entry) => entry.role === "toolResult");
      expect(message?.details).toEqual(kept);
    }
  });

  it("is also validated if a hook returned it", async () => {
    const odd = untyped<ToolResult>('{"content":[null]}');
    const turns = [assistant([toolCall("a", "t")]), "ok"];
    const after = await run(turns, { afterToolCall: () => odd }, { tools: [tool("t", "x")] });
    expect(results(after.asked)).toEqual([`result#a: ${noted}`]);
    const history = [{ role: "user", content: "go", timestamp: 1 } as const, assistant([toolCall("a", "t")])];
    const given = { history, input: [], tools: [tool("t", "x", { effects: "external" })] };
    const pending = await run(["ok"], { onPendingCall: () => ({ action: "result", result: odd }) }, given);
    expect(results(pending.asked)).toEqual([`result#a: ${noted}`]);
    const unknown = untyped<PendingDecision>('{"action":"retry"}');
    const undecided = await run(["ok"], { onPendingCall: () => unknown }, given);
    expect(results(undecided.asked)).toEqual([expect.stringMatching(/was interrupted/)]);
  });

  it.each(Object.entries(unreadable))("may be a thrown, unreadable value: %s", async (_name, thrown) => {
    const later = tool("t", async () => {
      throw thrown;
    });
    const once = tool("t", () => {
      throw thrown;
    });
    const turns = [assistant([toolCall("a", "t")]), "ok"];
    for (const t of [later, once]) {
      const { result, asked } = await run(turns, {}, { tools: [t] });
      expect(result.reason).toBe("done");
      expect(results(asked)).toHaveLength(1);
    }
    const thrower = (): never => {
      throw thrown;
    };
    for (const hook of [{ beforeToolCall: thrower }, { afterToolCall: thrower }]) {
      const { result, asked } = await run(turns, hook, { tools: [tool("t", "x")] });
      expect(result.reason).toBe("done");
      expect(results(asked)).toHaveLength(1);
    }
    await expect(run(["ok"], { transformContext: thrower })).rejects.toMatchObject({ code: "hook_failed" });
    await expect(run(["ok"], { onJournalEntry: thrower })).rejects.toMatchObject({ code: "journal_failed" });
  });

  it("may be an object that throws when it is read", async () => {
    const trap = (): never => {
      throw new Error("no");
    };
    let reads = 0;
    const odd = [
      new Proxy(text("x"), { get: trap }),
      // Valid on the first read, missing on the second.
      Object.defineProperty(text("x"), "content", {
        get: () => (++reads < 3 ? text("x").content : trap()),
      }),
      { content: [Object.defineProperty({ type: "text", text: "" } as const, "text", { get: trap })] },
    ];
    for (const given of odd) {
      const t = tool("t", async () => given);
      const { result, asked } = await run([assistant([toolCall("a", "t")]), "ok"], {}, { tools: [t] });
      expect(result.reason).toBe("done");
      expect(results(asked)).toHaveLength(1);
    }
  });
});
