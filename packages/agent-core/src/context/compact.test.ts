import { afterEach, describe, expect, it, vi } from "vitest";
import { assistant, MODEL, scripted, toolCall, usage, user } from "../../test/scripted.ts";
import type { CompactionCache } from "../config.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";
import { compact } from "./compact.ts";
import { findCutPoint } from "./cut-point.ts";

const HOUR = 3_600_000;

function conversation(turns: number): AgentMessage[] {
  return Array.from({ length: turns }, (_, i): AgentMessage[] => [
    { role: "user", content: `request ${i} ${"r".repeat(400)}`, timestamp: i * HOUR },
    assistant([toolCall(`c${i}`, "read", { path: `file${i}` })], { timestamp: i * HOUR }),
    {
      role: "toolResult",
      toolCallId: `c${i}`,
      toolName: "read",
      content: [{ type: "text", text: `content ${i}` }],
      isError: false,
      timestamp: i * HOUR,
    },
    assistant(`answer ${i}`, { timestamp: i * HOUR }),
  ]).flat();
}

const prompts = (model: ReturnType<typeof scripted>): string[] =>
  model.asked.map((asked) => String(asked.messages[0]?.role === "user" && asked.messages[0].content));

afterEach(() => {
  vi.useRealTimers();
});

describe("compact", () => {
  it("replaces older messages by the model's summary", async () => {
    const model = scripted(assistant("They read ten files.", { usage: usage(500, 20) }));
    const messages = conversation(10);
    const turns: AssistantMessage[] = [];
    const result = await compact({
      messages,
      keepTokens: 300,
      model: MODEL,
      stream: model.stream,
      now: () => 77,
      onTurn: (turn) => turns.push(turn),
    });
    expect(result?.source).toBe("model");
    expect(turns).toMatchObject([{ usage: { input: { total: 500 } } }]);
    expect(result?.summary).toMatchObject({
      summary: "They read ten files.",
      replaced: result?.replaced,
      timestamp: 77,
    });
    expect(messages[result?.replaced ?? 0]).toMatchObject({ role: "user" });
    expect(prompts(model)[0]).toContain('[called read {"path":"file0"}]');
    expect(prompts(model)[0]).toContain("Result of read: content 0");
    expect(model.asked[0]?.context.tools).toEqual([]);
  });

  it("summarizes in chunks if one call cannot take all", async () => {
    const model = scripted(...Array.from({ length: 20 }, (_, i) => `notes ${i}`));
    const result = await compact({
      messages: conversation(40),
      keepTokens: 300,
      model: MODEL,
      stream: model.stream,
      policy: { chunkTokens: 1_000 },
    });
    expect(model.asked.length).toBeGreaterThan(3);
    expect(prompts(model)[1]).toContain("<notes>\nnotes 0\n</notes>");
    expect(result?.summary.summary).toBe(`notes ${model.asked.length - 1}`);
  });

  it("continues an interrupted compaction", async () => {
    const kept = new Map<string, string>();
    const cache: CompactionCache = {
      get: (key) => kept.get(key),
      set: (key, summary) => void kept.set(key, summary),
    };
    const request = {
      messages: conversation(40),
      keepTokens: 300,
      model: MODEL,
      policy: { chunkTokens: 1_000, cache },
    };
    let left = 2;
    const failing = scripted(() => {
      if (left-- === 0) throw new Error("killed");
      return assistant(`notes ${left}`);
    });
    const first = await compact({ ...request, stream: failing.stream });
    expect(first?.source).toBe("metadata");
    expect(first?.summary.summary).toContain("Notes of the first part:\nnotes 0");
    expect(kept.size).toBe(2);
    const second = scripted("rest");
    const result = await compact({ ...request, stream: second.stream });
    expect(result?.source).toBe("model");
    expect(prompts(second)[0]).toContain("<notes>\nnotes 0\n</notes>");
    const third = scripted("never");
    expect((await compact({ ...request, stream: third.stream }))?.summary.summary).toBe("rest");
    expect(third.asked).toHaveLength(0);
  });

  it("returns a deterministic summary of metadata if the model fails", async () => {
    const failing = scripted(
      assistant("", {
        content: [],
        stopReason: "error",
        error: { code: "overloaded", message: "", retryable: true, emitted: false, scope: "model" },
      }),
    );
    const request = {
      messages: conversation(4),
      keepTokens: 160,
      model: MODEL,
      stream: failing.stream,
      now: () => 1,
    };
    const result = await compact(request);
    expect(result?.source).toBe("metadata");
    expect(result?.summary.summary).toContain(
      "12 older messages (1970-01-01T00:00:00.000Z to 1970-01-01T02:00:00.000Z)",
    );
    expect(result?.summary.summary).toContain("Tools used: read (3).");
    expect(result?.summary.summary).toContain("- request 2");
    expect(await compact(request)).toEqual(result);
    for (const turn of [assistant("  "), assistant("I will not", { stopReason: "refusal" })]) {
      expect((await compact({ ...request, stream: scripted(turn).stream }))?.source).toBe("metadata");
    }
    const throwing = await compact({
      ...request,
      stream: () => {
        throw new Error("no socket");
      },
    });
    expect(throwing?.source).toBe("metadata");
  });

  it("does not exceed its time limit, including the flush", async () => {
    vi.useFakeTimers();
    let signal: AbortSignal | undefined;
    const request = {
      messages: conversation(4),
      keepTokens: 100,
      model: MODEL,
      beforeCompaction: () => new Promise<void>((resolve) => setTimeout(resolve, 10_000)),
      stream: async function* (_model: unknown, _context: unknown, options?: { signal?: AbortSignal }) {
        signal = options?.signal;
        await new Promise(() => {});
        yield { type: "finish", message: assistant("too late") } as const;
      },
    };
    let result: Awaited<ReturnType<typeof compact>>;
    const done = compact(request).then((value) => {
      result = value;
    });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(result).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await done;
    expect(result?.source).toBe("metadata");
    expect(signal?.aborted).toBe(true);
  });

  it("does not wait for a hanging flush beyond its time limit", async () => {
    vi.useFakeTimers();
    const model = scripted("never");
    const done = compact({
      messages: conversation(4),
      keepTokens: 100,
      model: MODEL,
      stream: model.stream,
      beforeCompaction: () => new Promise(() => {}),
    });
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await done)?.source).toBe("metadata");
    expect(model.asked).toHaveLength(0);
  });

  it("flushes memory first, and continues if that fails", async () => {
    const flushed: number[] = [];
    const model = scripted("summary");
    const history = conversation(4);
    const result = await compact({
      messages: history,
      keepTokens: 100,
      model: MODEL,
      stream: model.stream,
      beforeCompaction: ({ messages, tokens }) => {
        flushed.push(messages.length, tokens, model.asked.length);
        throw new Error("read-only");
      },
    });
    expect(flushed[0]).toBe(result?.replaced);
    expect(flushed[1]).toBe(estimateTokens(history.slice(0, result?.replaced)));
    expect(flushed[2]).toBe(0);
    expect(result?.source).toBe("model");
  });

  it("counts the model turns of a flush", async () => {
    const flushed = assistant("notes");
    const told: AssistantMessage[] = [];
    await compact({
      messages: conversation(4),
      keepTokens: 100,
      model: MODEL,
      stream: scripted("summary").stream,
      beforeCompaction: ({ onTurn }) => onTurn(flushed),
      onTurn: (turn) => told.push(turn),
    });
    expect(told).toMatchObject([flushed, { content: [{ text: "summary" }] }]);
  });

  it("keeps the task verbatim if only later messages of it stay", async () => {
    const steps = Array.from({ length: 20 }, (_, i) => [
      assistant([toolCall(`c${i}`, "t")]),
      {
        role: "toolResult",
        toolCallId: `c${i}`,
        toolName: "t",
        content: [{ type: "text", text: "x".repeat(800) }],
        isError: false,
        timestamp: 1,
      } as const,
    ]).flat();
    const messages = [user("Port the parser to Rust."), ...steps];
    const result = await compact({
      messages,
      keepTokens: 500,
      model: MODEL,
      stream: scripted("notes").stream,
    });
    expect(result?.summary.summary).toBe(
      "notes\n\nThe user's latest request, word for word:\nPort the parser to Rust.",
    );
    expect(messages[result?.replaced ?? 0]?.role).toBe("assistant");
  });

  it("does nothing if there is nothing to gain, or on abort", async () => {
    const request = { keepTokens: 10, model: MODEL, stream: scripted("x").stream };
    expect(await compact({ ...request, messages: [user("hi")] })).toBeUndefined();
    expect(await compact({ ...request, messages: [] })).toBeUndefined();
    expect(await compact({ ...request, messages: conversation(4), keepTokens: 5_000 })).toBeUndefined();
    const summary = {
      role: "compactionSummary",
      summary: "s".repeat(900),
      replaced: 3,
      timestamp: 1,
    } as const;
    expect(await compact({ ...request, messages: [summary, user("hi")] })).toBeUndefined();
    expect(
      await compact({ ...request, messages: conversation(4), signal: AbortSignal.abort() }),
    ).toBeUndefined();
  });
});

describe("findCutPoint", () => {
  it("never separates a turn from its results, and keeps at least the last turn", () => {
    const messages = conversation(6);
    for (let keep = 0; keep < 2_000; keep += 20) {
      const cut = findCutPoint(messages, keep);
      expect(messages[cut]?.role).not.toBe("toolResult");
      expect(cut).toBeLessThan(messages.length);
    }
  });

  it("keeps an unanswered request verbatim, even if the user wrote more since", async () => {
    const call = (id: string) => assistant([toolCall(id, "read", { path: "x".repeat(900) })]);
    const createResult = (toolCallId: string): AgentMessage => ({
      role: "toolResult",
      toolCallId,
      toolName: "read",
      content: [{ type: "text", text: "y".repeat(900) }],
      isError: false,
      timestamp: 1,
    });
    const messages = [
      user("answered before"),
      assistant("done"),
      user("write the report"),
      call("1"),
      createResult("1"),
      user("in English"),
      call("2"),
      createResult("2"),
    ];
    const { stream } = scripted("NOTES");
    const steered = await compact({ messages, keepTokens: 500, model: MODEL, stream });
    expect(steered?.replaced).toBe(5);
    expect(steered?.summary.summary).toMatch(/latest request, word for word:\nwrite the report$/);
    const answered = messages.with(4, assistant("here it is"));
    const since = await compact({ messages: answered, keepTokens: 500, model: MODEL, stream });
    expect(since?.summary.summary).toBe("NOTES");
  });

  it("keeps at most the last three of them, and no blank ones", async () => {
    const said = ["one", "two", " ", "three", "four"].map((text) => user(text));
    const messages = [...said, assistant([toolCall("1", "read")]), user("x".repeat(4_000))];
    const { stream } = scripted("NOTES");
    const compaction = await compact({ messages, keepTokens: 500, model: MODEL, stream });
    expect(compaction?.summary.summary).toBe(
      "NOTES\n\nThe user's latest requests, word for word:\ntwo\n\nthree\n\nfour",
    );
  });
});
