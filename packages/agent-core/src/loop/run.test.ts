import { describe, expect, it } from "vitest";
import type { Turn } from "../../test/scripted.ts";
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
import type { AgentLoopConfig, AgentMessage, RunResult, Step, Tool } from "../index.ts";
import { agentLoop, runAgentLoop } from "../index.ts";

async function run(
  turns: readonly Turn[],
  config: Partial<AgentLoopConfig> = {},
  given: { history?: readonly AgentMessage[]; input?: readonly AgentMessage[]; tools?: readonly Tool[] } = {},
): Promise<{ result: RunResult; asked: ReturnType<typeof scripted>["asked"] }> {
  const model = scripted(...turns);
  const { history = [], input = [user("go")], tools = [] } = given;
  const result = await runAgentLoop(
    { system: SYSTEM, history, input, tools },
    { model: MODEL, stream: model.stream, ...config },
    () => {},
  );
  return { result, asked: model.asked };
}

/** A queue that gives what it holds when it has been asked `after` times. */
function queue(after: number, ...messages: string[]): () => readonly AgentMessage[] {
  let polls = 0;
  let held = messages;
  return () => {
    if (++polls <= after || held.length === 0) return [];
    const given = held.map((content) => user(content));
    held = [];
    return given;
  };
}

describe("steering", () => {
  it("comes before the next call; the calls after it are skipped and say so", async () => {
    const ran: string[] = [];
    const t = tool("t", async (call) => {
      ran.push(call.id);
      return text("ok");
    });
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 }), toolCall("c", "t", { x: 2 })]);
    // Asked at the start, before a, before b.
    const { result, asked } = await run([turn, "fine"], { steering: queue(2, "Stop!") }, { tools: [t] });
    expect(ran).toEqual(["a"]);
    expect(lines(asked[1]?.messages ?? [])).toEqual([
      "user: go",
      "assistant: →t#a →t#b →t#c",
      "result#a: ok",
      expect.stringMatching(/^result#b: Not run: the user sent a message first/),
      expect.stringMatching(/^result#c: Not run: the user sent a message first/),
      "user: Stop!",
    ]);
    expect(result.reason).toBe("done");
  });

  it("is looked for once before a parallel batch", async () => {
    let polls = 0;
    const t = tool("t", "ok", { execution: "parallel" });
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 }), toolCall("c", "t", { x: 2 })]);
    await run(
      [turn, "fine"],
      {
        steering: () => {
          polls++;
          return [];
        },
      },
      { tools: [t] },
    );
    // The start, the batch, after each of two turns.
    expect(polls).toBe(4);
  });

  it("wakes an agent that was about to rest", async () => {
    const { result, asked } = await run(["first", "second"], { steering: queue(1, "And?") });
    expect(lines(asked[1]?.messages ?? [])).toEqual(["user: go", "assistant: first", "user: And?"]);
    expect(result.text).toBe("second");
  });

  it("that was waiting when the run began comes before its first turn", async () => {
    const { asked } = await run(["ok"], { steering: queue(0, "Also this") });
    expect(lines(asked[0]?.messages ?? [])).toEqual(["user: go", "user: Also this"]);
  });

  it("is kept even when the run ends in the same moment", async () => {
    const t = tool("t", "ok");
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 })]);
    const controller = new AbortController();
    let polls = 0;
    const { result } = await run(
      [turn],
      {
        signal: controller.signal,
        steering: async () => {
          if (controller.signal.aborted) return [];
          if (++polls < 3) return [];
          controller.abort();
          return [user("last words")];
        },
      },
      { tools: [t] },
    );
    expect(result.reason).toBe("aborted");
    expect(result.messages.at(-1)).toMatchObject({ role: "user", content: "last words" });
  });
});

describe("follow-ups", () => {
  it("start another round when the agent would stop", async () => {
    const { result, asked } = await run(["first", "second"], { followUps: queue(0, "Next") });
    expect(lines(asked[1]?.messages ?? [])).toEqual(["user: go", "assistant: first", "user: Next"]);
    expect(result).toMatchObject({ reason: "done", text: "second" });
  });

  it("stay where they are after an error", async () => {
    let polls = 0;
    const failing = assistant("", {
      content: [],
      stopReason: "error",
      error: { code: "auth", message: "no key", retryable: false, emitted: false, scope: "key" },
    });
    const { result } = await run([failing], {
      followUps: () => {
        polls++;
        return [];
      },
    });
    expect(result).toMatchObject({ reason: "error", error: { code: "auth" } });
    expect(result.messages.map((message) => message.role)).toEqual(["user"]);
    expect(polls).toBe(0);
  });
});

describe("stop reasons", () => {
  it("goes on by itself after max_tokens and joins the parts", async () => {
    const cut = (part: string) => assistant(part, { stopReason: "max_tokens" });
    const { result, asked } = await run([cut("One, "), cut("two, "), "three."]);
    expect(result).toMatchObject({ reason: "done", text: "One, two, three." });
    expect(asked[1]?.messages.at(-1)?.role).toBe("user");
  });

  it("delivers an answer that stays cut, marked as cut", async () => {
    const cut = assistant("and ", { stopReason: "max_tokens" });
    const { result, asked } = await run([cut], { continuations: 3 });
    expect(result).toMatchObject({ reason: "cut", text: "and and and and " });
    expect(asked).toHaveLength(4);
  });

  it("answers calls of a cut turn without running them", async () => {
    const cut = assistant([toolCall("a", "t")], { stopReason: "max_tokens" });
    let ran = 0;
    const t = tool("t", async () => text(String(++ran)));
    const { asked } = await run([cut, "ok"], {}, { tools: [t] });
    expect(ran).toBe(0);
    expect(lines(asked[1]?.messages ?? []).at(-1)).toMatch(/^result#a: Not run: the message was cut/);
  });

  it("asks again after a pause, without a word of its own", async () => {
    const pause = assistant("searching", { stopReason: "pause" });
    const { result, asked } = await run([pause, "found"]);
    expect(lines(asked[1]?.messages ?? [])).toEqual(["user: go", "assistant: searching"]);
    expect(result.text).toBe("searchingfound");
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

  it("of tool calls, the rest of the turn being skipped", async () => {
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 }), toolCall("c", "t", { x: 2 })]);
    const { result } = await run([turn], { limits: { toolCalls: 1 } }, { tools: [t] });
    expect(result).toMatchObject({ reason: "limit", limit: "toolCalls", used: { toolCalls: 1 } });
    const results = result.messages.filter((message) => message.role === "toolResult");
    expect(results.map((entry) => entry.isError)).toEqual([false, true, true]);
  });

  it("of output tokens and money, before more is spent", async () => {
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

  it("of wall time, with every call answered", async () => {
    const slow = tool("t", () => new Promise(() => {}));
    const { result } = await run([again()], { limits: { wallMs: 20 }, abortGraceMs: 1 }, { tools: [slow] });
    expect(result).toMatchObject({ reason: "limit", limit: "wallMs" });
    expect(result.messages.at(-1)).toMatchObject({ role: "toolResult", isError: true });
  });

  it("notices the same call over and over, says so, then stops", async () => {
    let n = 0;
    const same: Turn = () => assistant([toolCall(`c${n++}`, "t", { q: "x" })]);
    const { result } = await run([same], { repeat: { warnAt: 2, stopAt: 4 } }, { tools: [t] });
    expect(result).toMatchObject({ reason: "repeated", used: { turns: 4 } });
    const said = result.messages.flatMap((message) =>
      message.role === "toolResult"
        ? [message.content.map((block) => ("text" in block ? block.text : "")).join("|")]
        : [],
    );
    expect(said[0]).toBe("ok");
    expect(said[1]).toContain('call 2 of "t" with exactly these arguments');
    expect(said[3]).toContain("the run ends here");
  });

  it("does not mind tools that are meant to be called again", async () => {
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
  it("during a tool gives every call a result", async () => {
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
          setTimeout(() => controller.abort(), 1);
          return new Promise(() => {});
        },
      },
      { tools: [tool("t", "never")] },
    );
    expect(result.reason).toBe("aborted");
    expect(result.messages.at(-1)).toMatchObject({ role: "toolResult", isError: true });
  });

  it("before anything makes no model call", async () => {
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

describe("going on", () => {
  const t = (effects: Tool["effects"], ran: string[] = []): Tool =>
    tool(
      "t",
      async (call) => {
        ran.push(call.id);
        return text(`ran ${call.id}`);
      },
      { effects },
    );
  const history = [user("go"), assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 })])];

  it("after results or a user message asks the model", async () => {
    const { result } = await run(["ok"], {}, { history: [user("hello")], input: [] });
    expect(result).toMatchObject({ reason: "done", text: "ok" });
    expect(result.messages).toHaveLength(1);
  });

  it("runs harmless open calls again, and tells the model that the outcome of others is unknown", async () => {
    const ran: string[] = [];
    const harmless = await run(["ok"], {}, { history, input: [], tools: [t("idempotent", ran)] });
    expect(ran).toEqual(["a", "b"]);
    expect(lines(harmless.asked[0]?.messages ?? []).slice(2)).toEqual(["result#a: ran a", "result#b: ran b"]);
    const external = await run(["ok"], {}, { history, input: [], tools: [t("external", ran)] });
    expect(ran).toEqual(["a", "b"]);
    expect(lines(external.asked[0]?.messages ?? [])[2]).toContain("whether it took effect is unknown");
  });

  it("does what the host says about each open call, results in the order of the calls", async () => {
    const ran: string[] = [];
    const partly = [
      ...history,
      { ...resultOf("b"), content: [{ type: "text", text: "from before" }] } as const,
    ];
    const { asked } = await run(
      ["ok"],
      { onPendingCall: ({ call }) => ({ action: "result", result: text(`told ${call.id}`) }) },
      { history: partly, input: [], tools: [t("external", ran)] },
    );
    expect(ran).toEqual([]);
    expect(lines(asked[0]?.messages ?? []).slice(2)).toEqual(["result#a: told a", "result#b: from before"]);
    const again = await run(
      ["ok"],
      { onPendingCall: () => ({ action: "run" }) },
      { history, input: [], tools: [t("external", ran)] },
    );
    expect(ran).toEqual(["a", "b"]);
    expect(again.result.reason).toBe("done");
  });

  it("waits again where the host says so", async () => {
    const { result, asked } = await run(
      ["never"],
      { onPendingCall: ({ call }) => ({ action: call.id === "a" ? "wait" : "run" }) },
      { history, input: [], tools: [t("none")] },
    );
    expect(result.reason).toBe("waiting");
    expect(result.pending.map((call) => call.id)).toEqual(["a", "b"]);
    expect(asked).toHaveLength(0);
  });

  it("does not run open calls when something new was said", async () => {
    const ran: string[] = [];
    const { asked } = await run(
      ["ok"],
      {},
      { history, input: [user("Never mind")], tools: [t("none", ran)] },
    );
    expect(ran).toEqual([]);
    expect(lines(asked[0]?.messages ?? []).at(-1)).toBe("user: Never mind");
    expect(asked[0]?.messages).toHaveLength(5);
  });

  it("takes up a broken or cut answer", async () => {
    const broken = [user("go"), assistant("half", { stopReason: "aborted" })];
    const { asked } = await run(["rest"], {}, { history: broken, input: [] });
    expect(asked[0]?.messages.at(-1)).toMatchObject({ role: "user" });
  });

  it("refuses when there is nothing to go on with", async () => {
    await expect(run(["x"], {}, { history: [user("a"), assistant("b")], input: [] })).rejects.toMatchObject({
      code: "nothing_to_continue",
    });
    await expect(run(["x"], {}, { history: [], input: [] })).rejects.toMatchObject({
      code: "nothing_to_continue",
    });
    await expect(run(["x"], {}, { input: [assistant("not yours")] })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

function resultOf(id: string) {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: "t",
    content: [],
    isError: false,
    timestamp: 1,
  } as const;
}

describe("onStep", () => {
  it("is through with each message before the next effect", async () => {
    const log: string[] = [];
    const steps: Step[] = [];
    const t = tool("t", async (call) => {
      log.push(`tool ${call.id}`);
      return text("ok");
    });
    const model = scripted(
      () => {
        log.push("model 1");
        return assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 })]);
      },
      () => {
        log.push("model 2");
        return assistant("done");
      },
    );
    await runAgentLoop(
      { system: SYSTEM, history: [], input: [user("go")], tools: [t] },
      {
        model: MODEL,
        stream: model.stream,
        onStep: async (step) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          const open = step.pendingToolCalls.map((call) => call.id).join("");
          log.push(`kept ${step.kind}${open === "" ? "" : ` (${open} open)`}`);
          steps.push(step);
        },
      },
      (event) => {
        if (event.type === "message") log.push(`shown ${event.message.role}`);
      },
    );
    expect(log).toEqual([
      "kept input",
      "shown user",
      "model 1",
      "kept assistant (ab open)",
      "shown assistant",
      "kept toolStart (ab open)",
      "tool a",
      "kept toolResult (b open)",
      "kept toolStart (b open)",
      "tool b",
      "kept toolResult",
      "shown toolResult",
      "shown toolResult",
      "model 2",
      "kept assistant",
      "shown assistant",
    ]);
    expect(steps.flatMap((step) => step.messages).map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "assistant",
    ]);
  });

  it.each(["input", "assistant", "toolStart", "toolResult"] as const)(
    "that fails at %s lets nothing happen after it",
    async (kind) => {
      const effects: string[] = [];
      const t = tool("t", async () => {
        effects.push("tool");
        return text("ok");
      });
      const loop = agentLoop(
        { system: SYSTEM, history: [], input: [user("go")], tools: [t] },
        {
          model: MODEL,
          stream: scripted(() => {
            effects.push("model");
            return assistant([toolCall("a", "t")]);
          }).stream,
          onStep: (step) => {
            if (step.kind === kind) throw new Error("disk full");
          },
        },
      );
      const events: string[] = [];
      await expect(
        (async () => {
          for await (const event of loop) events.push(event.type);
        })(),
      ).rejects.toMatchObject({ code: "step_failed" });
      await expect(loop.result()).rejects.toMatchObject({ code: "step_failed" });
      expect(events.at(-1)).toBe("run.end");
      const done = { input: [], assistant: ["model"], toolStart: ["model"], toolResult: ["model", "tool"] };
      expect(effects).toEqual(done[kind]);
    },
  );
});

describe("the request", () => {
  it("is made anew by transformContext each turn, and the history is not touched", async () => {
    const turns: unknown[] = [];
    const { result, asked } = await run(
      [assistant([toolCall("a", "t")]), "done"],
      {
        transformContext: (messages, info) => {
          turns.push([info.turn, info.runStart]);
          return messages.map((message, index) =>
            index === info.runStart && message.role === "user"
              ? { ...message, content: `[from Ann] ${String(message.content)}` }
              : message,
          );
        },
      },
      { history: [user("earlier"), assistant("yes")], tools: [tool("t", "ok")] },
    );
    expect(turns).toEqual([
      [1, 2],
      [2, 2],
    ]);
    expect(lines(asked[1]?.messages ?? [])[0]).toBe("user: earlier");
    expect(lines(asked[1]?.messages ?? [])[2]).toBe("user: [from Ann] go");
    expect(result.messages[0]).toMatchObject({ content: "go" });
  });

  it("is valid whatever transformContext leaves", async () => {
    const { asked } = await run(
      [assistant([toolCall("a", "t")]), "done"],
      { transformContext: (messages) => messages.slice(1) },
      { tools: [tool("t", "ok")] },
    );
    expect(asked[0]?.messages).toMatchObject([{ role: "user", content: "(Go on.)" }]);
    expect(asked[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "toolResult"]);
  });

  it("leaves out and rewrites what convertToLlm says, once a message", async () => {
    const seen: string[] = [];
    const { asked } = await run(
      [assistant([toolCall("a", "t")]), "done"],
      {
        convertToLlm: (message) => {
          seen.push(message.role);
          if (message.role === "custom") return undefined;
          if (message.role === "shellRun") return user(`$ ${message.command}`);
          return message.role === "user" || message.role === "assistant" || message.role === "toolResult"
            ? message
            : undefined;
        },
      },
      {
        history: [
          { role: "custom", kind: "private", content: "hidden", timestamp: 1 },
          { role: "shellRun", command: "ls", output: "", exitCode: 0, timestamp: 1 },
        ],
        tools: [tool("t", "ok")],
      },
    );
    expect(lines(asked[1]?.messages ?? [])).toEqual([
      "user: $ ls",
      "user: go",
      "assistant: →t#a",
      "result#a: ok",
    ]);
    expect(seen.filter((role) => role === "shellRun")).toHaveLength(1);
  });

  it("takes the system prompt of the turn", async () => {
    const model = scripted(assistant([toolCall("a", "t")]), "done");
    await runAgentLoop(
      {
        system: (turn) => ({ stable: `turn ${turn}` }),
        history: [],
        input: [user("go")],
        tools: [tool("t", "ok")],
      },
      { model: MODEL, stream: model.stream },
      () => {},
    );
    expect(model.asked.map((asked) => asked.context.system.stable)).toEqual(["turn 1", "turn 2"]);
  });

  it("gives adapters the same declaration of the same tool, run after run", async () => {
    const t = tool("t", "ok");
    const first = await run(["a"], {}, { tools: [t] });
    const second = await run(["b"], {}, { tools: [t] });
    expect(first.asked[0]?.context.tools[0]).toBe(second.asked[0]?.context.tools[0]);
  });

  it("has call ids that are unique in the conversation", async () => {
    const { asked, result } = await run(
      [assistant([toolCall("call_0", "t")]), assistant([toolCall("call_0", "t", { x: 1 })]), "done"],
      {},
      { tools: [tool("t", "ok")] },
    );
    const ids = asked[2]?.messages.flatMap((message) =>
      message.role === "toolResult" ? [message.toolCallId] : [],
    );
    expect(ids).toEqual(["call_0", "call_0_2"]);
    expect(result.reason).toBe("done");
  });
});

describe("usage", () => {
  it("adds up exactly over the turns", async () => {
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

describe("events", () => {
  it("come in the documented order around tools", async () => {
    const loop = agentLoop(
      { system: SYSTEM, history: [], input: [user("go")], tools: [tool("t", "ok")] },
      {
        model: MODEL,
        stream: scripted(assistant([toolCall("a", "t")]), "done").stream,
        steering: queue(2, "hm"),
      },
    );
    const types = (await collect(loop)).map((event) => event.type);
    expect(types).toEqual([
      "run.start",
      "message",
      "turn.start",
      "model.start",
      "block.start",
      "tool.delta",
      "block.end",
      "message",
      "tool.start",
      "tool.end",
      "message",
      "turn.end",
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
  });
});
