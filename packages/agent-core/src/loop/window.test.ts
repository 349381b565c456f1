import { describe, expect, it } from "vitest";
import type { Asked, Turn } from "../../test/scripted.ts";
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
  usage,
  user,
} from "../../test/scripted.ts";
import type { AgentEvent, AgentLoopConfig, AgentMessage, JournalEntry, RunResult, Tool } from "../index.ts";
import { agentLoop, estimateTokens } from "../index.ts";

const WITHOUT_COMPACTION = { context: { compaction: false } } as const;
const SMALL = { ...MODEL, contextWindow: 10_000 };
const isSummary = (asked: Asked): boolean => asked.context.system.stable.startsWith("You keep the notes");

/** A model that returns these turns, and `notes` for every summary. */
function model(turns: readonly Turn[], notes: Turn = "NOTES") {
  const asked: Asked[] = [];
  const inner = scripted(...turns);
  const summariser = scripted(notes);
  const stream: typeof inner.stream = (m, context, options) => {
    const request = { model: m, context, options: options ?? {}, messages: context.messages };
    asked.push(request);
    return isSummary(request) ? summariser.stream(m, context, options) : inner.stream(m, context, options);
  };
  return { stream, asked };
}

async function run(
  turns: readonly Turn[],
  given: {
    history?: readonly AgentMessage[];
    tools?: readonly Tool[];
    notes?: Turn;
    config?: Partial<AgentLoopConfig>;
  },
): Promise<{ result: RunResult; events: AgentEvent[]; asked: Asked[]; entries: JournalEntry[] }> {
  const { stream, asked } = model(turns, given.notes);
  const entries: JournalEntry[] = [];
  const loop = agentLoop(
    { system: SYSTEM, history: given.history ?? [], input: [user("go", 50)], tools: given.tools ?? [] },
    {
      model: SMALL,
      stream,
      onJournalEntry: (entry) => void entries.push(entry),
      now: () => 99,
      ...given.config,
    },
  );
  const events = await collect(loop);
  return { result: await loop.result(), events, asked, entries };
}

const talk = (turns: number, chars: number): AgentMessage[] =>
  Array.from({ length: turns }, (_, i) => [
    user(`q${i} ${"x".repeat(chars)}`, i),
    assistant(`a${i}`, { timestamp: i }),
  ]).flat();

const overflow: Turn = () =>
  assistant("", {
    content: [],
    stopReason: "error",
    error: {
      code: "overflow",
      message: "prompt is too long",
      status: 400,
      retryable: false,
      emitted: false,
      scope: "model",
    },
  });

describe("the window", () => {
  it("does not count messages that are not sent", async () => {
    const history = talk(40, 2_000);
    const config = { context: { historyTurns: 2 } };
    const { events } = await run(["ok"], { history, config });
    expect(events.filter(({ type }) => type === "prune" || type === "compaction.start")).toEqual([]);
  });

  it("counts no savings for messages that are not sent", async () => {
    const hidden = Array.from({ length: 6 }, (_, n) => [
      user(`h${n}`, n),
      assistant([toolCall(`h${n}`, "big", { n })], { timestamp: n }),
      {
        role: "toolResult" as const,
        toolCallId: `h${n}`,
        toolName: "big",
        content: [{ type: "text" as const, text: "old ".repeat(1_500) }],
        isError: false,
        timestamp: n,
      },
      assistant("ok", { timestamp: n }),
    ]);
    const config = { context: { historyTurns: 4 } };
    const { events } = await run(["ok"], { history: [...hidden.flat(), ...talk(4, 8_000)], config });
    expect(events.filter(({ type }) => type === "prune")).toEqual([]);
    expect(events.some(({ type }) => type === "compaction.start")).toBe(true);
  });

  it("does nothing while there is room in the window", async () => {
    const { events } = await run(["ok"], { history: talk(5, 400) });
    expect(events.some((event) => event.type === "prune" || event.type === "compaction.start")).toBe(false);
  });

  it("prunes old results first, without changing the history", async () => {
    const big = tool("big", async () => text("data ".repeat(400)));
    const turns = Array.from({ length: 9 }, (_, n) => assistant([toolCall(`c${n}`, "big", { n })]));
    const { result, events, asked } = await run([...turns, "done"], {
      tools: [big],
      config: WITHOUT_COMPACTION,
    });
    expect(result.reason).toBe("done");
    expect(events.some((event) => event.type === "prune")).toBe(false);
    const more = Array.from({ length: 12 }, (_, n) => assistant([toolCall(`c${n}`, "big", { n })]));
    const long = tool("big", async () => text("data ".repeat(1_200)));
    const pruned = await run([...more, "done"], { tools: [long], config: WITHOUT_COMPACTION });
    expect(pruned.events.filter((event) => event.type === "prune").length).toBeGreaterThan(0);
    expect(pruned.events.some((event) => event.type === "compaction.start")).toBe(false);
    const last = pruned.asked.at(-1)?.messages ?? [];
    expect(lines(last)[2]).toMatch(/old result (was )?removed/);
    expect(lines(last).at(-1)).toMatch(/^result#c11: (data ){1200}/);
    const kept = pruned.result.messages.find((message) => message.role === "toolResult");
    expect(
      kept?.role === "toolResult" && kept.content[0]?.type === "text" && kept.content[0].text.length,
    ).toBe(6_000);
    expect(asked.length).toBe(10);
  });

  it.each([0.65, 0.75])(
    "prunes and does not compact if pruning is enough, at %d of the window",
    async (share) => {
      const result = (n: number): AgentMessage => ({
        role: "toolResult",
        toolCallId: `r${n}`,
        toolName: "big",
        content: [{ type: "text", text: "x".repeat(share * 10_000) }],
        isError: false,
        timestamp: n,
      });
      const history = Array.from({ length: 4 }, (_, n) => [
        user(`q${n}`, n),
        assistant([toolCall(`r${n}`, "big", { n })], { timestamp: n }),
        result(n),
        assistant("ok", { timestamp: n }),
      ]).flat();
      const { events } = await run(["ok"], { history });
      expect(events.map(({ type }) => type)).toContain("prune");
      expect(events.map(({ type }) => type)).not.toContain("compaction.start");
    },
  );

  it("compacts if pruning is not enough, durably and before the model call", async () => {
    const { events, asked, entries, result } = await run(["ok"], { history: talk(30, 1_000) });
    const types = events.map((event) => event.type);
    expect(types.slice(2, 6)).toEqual(["turn.start", "compaction.start", "compaction.end", "model.start"]);
    const entry = entries.find((other) => other.kind === "compaction");
    expect(entries.map((other) => other.kind)).toEqual(["input", "compaction", "assistant"]);
    expect(entry?.kind === "compaction" && entry.replaced).toBeGreaterThan(30);
    const request = asked.at(-1)?.messages ?? [];
    expect(lines(request)[0]).toContain("replaced by this summary:\n\nNOTES");
    expect(request.at(-1)).toMatchObject({ content: "go" });
    expect(result.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
  });

  it("continues with metadata if the model fails's help when the summary fails", async () => {
    const { events, asked } = await run(["ok"], { history: talk(30, 1_000), notes: assistant("") });
    expect(events.find((event) => event.type === "compaction.end")).toMatchObject({ source: "metadata" });
    expect(lines(asked.at(-1)?.messages ?? [])[0]).toContain("The user wrote");
  });

  it("does not compact if compaction is off", async () => {
    const { asked } = await run(["ok"], {
      history: talk(30, 1_000),
      config: { context: { compaction: false } },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.messages).toHaveLength(61);
  });

  it("does not compact every turn if the conversation stays long", async () => {
    const t = tool("t", "ok ".repeat(60));
    const turns = Array.from({ length: 12 }, (_, n) => assistant([toolCall(`c${n}`, "t", { n })]));
    const { stream, asked } = model([...turns, "done"]);
    const system = { stable: "rule ".repeat(5_600) };
    const run = agentLoop(
      { system, history: talk(12, 900), input: [user("go")], tools: [t] },
      { model: SMALL, stream, now: () => 99 },
    );
    expect((await run.result()).reason).toBe("done");
    expect(asked.filter(isSummary)).toHaveLength(1);
  });

  it("adds the usage of summaries to the run's usage", async () => {
    const notes = assistant("NOTES", { usage: usage(4_000, 100, 900) });
    const { result } = await run([assistant("ok", { usage: usage(500, 10, 70) })], {
      history: talk(30, 1_000),
      notes,
      config: { context: { compaction: { chunkTokens: 50_000 } } },
    });
    expect(result.used).toMatchObject({ turns: 1, usage: { input: { total: 4_500 }, costMicros: 970 } });
  });

  it("waits less for a silent model after a summary that timed out", async () => {
    let now = 0;
    const { stream, asked } = model([assistant("ok")], () => {
      now += 30_000;
      throw new Error("stalled");
    });
    const loop = agentLoop(
      { system: SYSTEM, history: talk(30, 1_000), input: [user("go")], tools: [] },
      { model: SMALL, stream, now: () => now },
    );
    expect((await loop.result()).reason).toBe("done");
    expect(asked.map((one) => one.options.silenceMs)).toEqual([undefined, 25_000]);
    const fine = model([assistant("ok")]);
    const run = agentLoop(
      { system: SYSTEM, history: talk(30, 1_000), input: [user("go")], tools: [] },
      { model: SMALL, stream: fine.stream, now: () => (now += 1_000) },
    );
    await run.result();
    expect(fine.asked.at(-1)?.options.silenceMs).toBeUndefined();
  });

  it("counts the usage of an abandoned summary", async () => {
    const abort = new AbortController();
    let chunks = 0;
    const { stream } = scripted(() => {
      if (++chunks === 3) abort.abort();
      return assistant("NOTES", { usage: usage(100, 10, 7) });
    });
    const loop = agentLoop(
      { system: SYSTEM, history: talk(30, 1_000), input: [user("go")], tools: [] },
      { model: SMALL, stream, signal: abort.signal, context: { compaction: { chunkTokens: 1_000 } } },
    );
    const result = await loop.result();
    expect(result.reason).toBe("aborted");
    // The third was still in progress.
    expect(result.used.usage.costMicros).toBe(14);
  });

  it("passes the start of the run to transformContext, also after a compaction", async () => {
    const starts: number[] = [];
    await run(["ok"], {
      history: talk(30, 1_000),
      config: {
        transformContext: (messages, info) => {
          expect(messages[info.runStart]).toMatchObject({ content: "go" });
          starts.push(info.runStart);
          return messages;
        },
      },
    });
    expect(starts).toHaveLength(1);
  });
});

describe("a vendor's overflow", () => {
  it("that rejects a request as too long causes a compaction and one more attempt", async () => {
    const { result, events, asked } = await run([overflow, "ok now"], { history: talk(4, 1_000) });
    expect(result).toMatchObject({ reason: "done", text: "ok now" });
    const types = events.map((event) => event.type);
    expect(types.indexOf("compaction.start")).toBeLessThan(types.indexOf("model.discard"));
    expect(types.filter((type) => type === "message")).toHaveLength(2);
    expect(asked).toHaveLength(3);
    expect(asked[2]?.messages.length).toBeLessThan(asked[0]?.messages.length ?? 0);
  });

  it("that answers with a smaller model causes a compaction to that model's window", async () => {
    const answering = { ...SMALL, contextWindow: 200_000 };
    const error = { code: "overflow", message: "too long for the small one", contextWindow: 4_000 } as const;
    const refusal = assistant("", {
      stopReason: "context_overflow",
      error: { ...error, retryable: false, emitted: false, scope: "model" },
    });
    const { result, asked } = await run([refusal, "answered"], {
      history: talk(10, 4_000),
      config: { model: answering },
    });
    expect(result).toMatchObject({ reason: "done", text: "answered" });
    const [first, second] = asked
      .filter((each) => !isSummary(each))
      .map(({ messages }) => estimateTokens(messages));
    expect(first).toBeGreaterThan(9_000);
    expect(second).toBeLessThan(4_000);
    for (const { messages } of asked.filter(isSummary)) expect(estimateTokens(messages)).toBeLessThan(4_000);
  });

  it("that rejects the second attempt ends the run with an error", async () => {
    const { result, asked } = await run([overflow], { history: talk(4, 1_000) });
    expect(result).toMatchObject({ reason: "error", error: { code: "overflow" } });
    expect(asked.filter((request) => !isSummary(request))).toHaveLength(2);
  });

  it("that rejects a request that cannot be shortened ends the run at once", async () => {
    const { result, asked } = await run([overflow], {});
    expect(result).toMatchObject({ reason: "error", error: { code: "overflow" } });
    expect(asked).toHaveLength(1);
  });

  it("that runs out of window in the middle of an answer voids the answer", async () => {
    const cut = assistant("half an ans", { stopReason: "context_overflow" });
    const { result, events } = await run([cut, "whole"], { history: talk(4, 1_000) });
    expect(result.text).toBe("whole");
    expect(result.messages).toHaveLength(2);
    expect(events.find((event) => event.type === "model.discard")).toMatchObject({
      error: { code: "overflow", emitted: true },
    });
  });

  it("causes a compaction above 60 % of the window, even if nothing can be pruned", async () => {
    const reported = assistant("long", { usage: usage(6_300, 10), timestamp: 40 });
    const { events } = await run(["ok"], { history: [...talk(14, 1_000), user("q", 30), reported] });
    expect(events.some((event) => event.type === "compaction.start")).toBe(true);
    const below = assistant("long", { usage: usage(5_800, 10), timestamp: 40 });
    const quiet = await run(["ok"], { history: [...talk(14, 1_000), user("q", 30), below] });
    expect(quiet.events.some((event) => event.type === "compaction.start")).toBe(false);
  });
});
