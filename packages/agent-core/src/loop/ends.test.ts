import { describe, expect, it } from "vitest";
import { run } from "../../test/run.ts";
import { assistant, lines, type Turn, text, tool, toolCall } from "../../test/scripted.ts";

describe("stop reasons", () => {
  it("continues automatically after max_tokens and joins the parts", async () => {
    const cut = (part: string) => assistant(part, { stopReason: "max_tokens" });
    const { result, asked } = await run([cut("One, "), cut("two, "), "three."]);
    expect(result).toMatchObject({ reason: "done", text: "One, two, three." });
    expect(lines(asked[1]?.messages ?? []).at(-1)).toMatch(
      /^user: Your last message was cut at the output limit/,
    );
  });

  it("returns an answer that stays truncated with the reason cut", async () => {
    const cut = assistant("and ", { stopReason: "max_tokens" });
    const { result, asked } = await run([cut], { continuations: 3 });
    expect(result).toMatchObject({ reason: "cut", text: "and and and and " });
    expect(asked).toHaveLength(4);
  });

  it("gives calls of a truncated turn a result without running them", async () => {
    const cut = assistant([toolCall("a", "t")], { stopReason: "max_tokens" });
    let ran = 0;
    const t = tool("t", async () => text(String(++ran)));
    const { asked } = await run([cut, "ok"], {}, { tools: [t] });
    expect(ran).toBe(0);
    expect(lines(asked[1]?.messages ?? []).at(-1)).toMatch(/^result#a: Not run: the message was cut/);
  });

  it("requests another turn after a pause, without a new message", async () => {
    const pause = assistant("searching", { stopReason: "pause" });
    const { result, asked } = await run([pause, "found"]);
    expect(lines(asked[1]?.messages ?? [])).toEqual(["user: go", "assistant: searching"]);
    expect(result.text).toBe("searchingfound");
  });

  it("counts pauses and truncations in any order", async () => {
    const turns = Array.from({ length: 100 }, (_, i) =>
      assistant("x", { stopReason: i % 2 === 0 ? "pause" : "max_tokens" }),
    );
    const { result, asked } = await run(turns);
    expect(result.reason).toBe("cut");
    expect(asked).toHaveLength(6);
  });

  it.each(["refusal", "filter"] as const)("ends with %s", async (stopReason) => {
    const { result } = await run([assistant("no", { stopReason })]);
    expect(result.reason).toBe(stopReason);
  });
});

describe("limits", () => {
  const again = (): Turn => {
    let n = 0;
    return () => assistant([toolCall(`c${n}`, "t", { n: n++ })]);
  };
  const t = tool("t", "ok");

  it("of turns", async () => {
    const { result } = await run([again()], { limits: { turns: 3 } }, { tools: [t] });
    expect(result).toMatchObject({ reason: "limit", limit: "turns", used: { turns: 3, toolCalls: 3 } });
    expect(result.messages.at(-1)?.role).toBe("toolResult");
  });

  it("of tool calls, and the other calls of the turn are skipped", async () => {
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 }), toolCall("c", "t", { x: 2 })]);
    const { result } = await run([turn], { limits: { toolCalls: 1 } }, { tools: [t] });
    expect(result).toMatchObject({ reason: "limit", limit: "toolCalls", used: { toolCalls: 1 } });
    const results = result.messages.filter((message) => message.role === "toolResult");
    expect(results.map((entry) => entry.isError)).toEqual([false, true, true]);
  });

  it("of output tokens and money, before the next request", async () => {
    const usage = {
      input: { total: 5, uncached: 5, cacheRead: 0, cacheWrite: 0 },
      output: { total: 60, reasoning: 0 },
      source: "reported",
      costMicros: 700,
    } as const;
    const turn = assistant([toolCall("a", "t")], { usage });
    const tokens = await run([turn], { limits: { outputTokens: 100 } }, { tools: [t] });
    expect(tokens.result).toMatchObject({ reason: "limit", limit: "outputTokens", used: { turns: 2 } });
    expect(tokens.asked.map((asked) => asked.options.maxOutputTokens)).toEqual([100, 40]);
    const money = await run([turn], { limits: { costMicros: 700 } }, { tools: [t] });
    expect(money.result).toMatchObject({
      reason: "limit",
      limit: "costMicros",
      used: { turns: 1, toolCalls: 0 },
    });
    expect(money.result.used.usage.costMicros).toBe(700);
  });

  it("of wall time, with a result for every call", async () => {
    const slow = tool("t", () => new Promise(() => {}));
    const { result } = await run([again()], { limits: { wallMs: 20 }, abortGraceMs: 1 }, { tools: [slow] });
    expect(result).toMatchObject({ reason: "limit", limit: "wallMs" });
    expect(result.messages.at(-1)).toMatchObject({ role: "toolResult", isError: true });
  });

  it("warns about repeated calls, then stops", async () => {
    let n = 0;
    const same: Turn = () => assistant([toolCall(`c${n++}`, "t", { q: "x" })]);
    const { result } = await run([same], {}, { tools: [t] });
    expect(result).toMatchObject({ reason: "repeated", used: { turns: 6 } });
    const said = result.messages.flatMap((message) =>
      message.role === "toolResult"
        ? [message.content.map((block) => ("text" in block ? block.text : "")).join("|")]
        : [],
    );
    expect(said.slice(0, 2)).toEqual(["ok", "ok"]);
    expect(said[2]).toContain('call 3 of "t" with exactly these arguments');
    expect(said[5]).toContain("the run ends here");
  });

  it("recognizes equal arguments in another notation, and distinguishes similar ones", async () => {
    const texts = ['{"a":{"x":1,"y":[2,"z"]},"b":null}', '{ "b": null, "a": { "y": [2, "z"], "x": 1 } }'];
    let n = 0;
    const spelled: Turn = () => {
      const argsText = texts[n % 2] ?? "";
      return assistant([
        { type: "toolCall", id: `c${n++}`, name: "t", args: JSON.parse(argsText), argsText },
      ]);
    };
    const same = await run([spelled], {}, { tools: [t] });
    expect(same.result).toMatchObject({ reason: "repeated", used: { turns: 6 } });
    n = 0;
    const alike = [{ q: "1" }, { q: 1 }, { q: [1] }, { q: { 0: 1 } }, { q: null }, { q: "null" }];
    const other: Turn = () => {
      const args = n < 2 * alike.length ? alike[n % alike.length] : undefined;
      return args === undefined ? assistant("done") : assistant([toolCall(`c${n++}`, "t", args)]);
    };
    const { result } = await run([other], {}, { tools: [t] });
    expect(result).toMatchObject({ reason: "done", used: { toolCalls: 12 } });
    // Each occurs twice. If two counted as the same, they would occur four times.
    expect(JSON.stringify(result.messages)).not.toContain("exactly these arguments");
  });

  it("exempts tools that may be called repeatedly", async () => {
    let n = 0;
    const same: Turn = () => (n < 12 ? assistant([toolCall(`c${n++}`, "t", {})]) : assistant("done"));
    const exempt = await run([same], { repeat: { exempt: ["t"] } }, { tools: [t] });
    expect(exempt.result.reason).toBe("done");
    n = 0;
    const off = await run([same], { repeat: false }, { tools: [t] });
    expect(off.result.reason).toBe("done");
  });
});

describe("abort", () => {
  it("during a tool call gives every call a result", async () => {
    const controller = new AbortController();
    const t = tool("t", async () => {
      controller.abort();
      return new Promise(() => {});
    });
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 })]);
    const { result } = await run([turn], { signal: controller.signal, abortGraceMs: 1 }, { tools: [t] });
    expect(result.reason).toBe("aborted");
    expect(result.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "toolResult",
    ]);
  });

  it("during a question to a person does not wait for the answer", async () => {
    const controller = new AbortController();
    const { result } = await run(
      [assistant([toolCall("a", "t")])],
      {
        signal: controller.signal,
        beforeToolCall: () => ({ action: "ask", question: "?" }),
        onAsk: () => {
          setImmediate(() => controller.abort());
          return new Promise(() => {});
        },
      },
      { tools: [tool("t", "never")] },
    );
    expect(result.reason).toBe("aborted");
    expect(result.messages.at(-1)).toMatchObject({ role: "toolResult", isError: true });
  });

  it("before the first request prevents any model call", async () => {
    const { result, asked } = await run(["never"], { signal: AbortSignal.abort() });
    expect(result.reason).toBe("aborted");
    expect(asked).toHaveLength(0);
  });

  it("leaves no listener on the host's signal", async () => {
    const { getEventListeners } = await import("node:events");
    const controller = new AbortController();
    const turns = Array.from({ length: 20 }, (_, n) => assistant([toolCall(`c${n}`, "t", { n })]));
    await run(
      [...turns, "done"],
      { signal: controller.signal },
      { tools: [tool("t", "ok", { timeoutMs: 1_000 })] },
    );
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  });
});

describe("usage", () => {
  it("is the exact sum of the turns", async () => {
    const usage = (input: number, output: number, costMicros: number) =>
      ({
        input: { total: input, uncached: input - 1, cacheRead: 1, cacheWrite: undefined },
        output: { total: output, reasoning: undefined },
        source: "reported",
        costMicros,
      }) as const;
    const { result } = await run(
      [
        assistant([toolCall("a", "t")], { usage: usage(10, 3, 33) }),
        assistant("x", { usage: usage(20, 4, 44) }),
      ],
      {},
      { tools: [tool("t", "ok")] },
    );
    expect(result.used.usage).toEqual({
      input: { total: 30, uncached: 28, cacheRead: 2, cacheWrite: undefined },
      output: { total: 7, reasoning: undefined },
      source: "reported",
      costMicros: 77,
    });
  });
});
