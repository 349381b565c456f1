import { describe, expect, it } from "vitest";
import { assistant, collect, MODEL, SYSTEM, toEvents, usage, user } from "../../test/scripted.ts";
import type { AgentEvent, ModelEvent, RunResult, StreamModel, StreamOptions } from "../index.ts";
import { agentLoop, runAgentLoop } from "../index.ts";

async function run(
  stream: StreamModel,
  signal?: AbortSignal,
): Promise<{ result: RunResult; events: readonly AgentEvent[] }> {
  const loop = agentLoop(
    { system: SYSTEM, history: [], input: [user("go")], tools: [] },
    { model: MODEL, stream, abortGraceMs: 10, signal },
  );
  const events = await collect(loop);
  return { result: await loop.result(), events };
}

describe("a stream", () => {
  it("passes the model's own events on as they are", async () => {
    const message = assistant([
      { type: "thinking", text: "hmm" },
      { type: "text", text: "hello" },
    ]);
    const given = [...toEvents(message)];
    const { events } = await run(async function* () {
      yield* given;
    });
    const streamed = given.slice(1, -1);
    const seen = events.filter((event) => streamed.some((other) => other === event));
    expect(seen).toEqual(streamed);
  });

  it("is stopped by the signal of its options, of a copy, and of replaced options", async () => {
    const other = new AbortController();
    const asked: ((options: StreamOptions) => AbortSignal | undefined)[] = [
      (options) => options.signal,
      (options) => ({ ...options }).signal,
      (options) => Object.assign(options, { signal: other.signal }).signal,
    ];
    for (const signalIn of asked) {
      const stop = new AbortController();
      const heard = Promise.withResolvers<unknown>();
      const { result } = await run(async function* (_model, _context, options = {}) {
        const signal = signalIn(options);
        yield { type: "block.start", index: 0, block: { type: "text" } };
        setImmediate(() => {
          stop.abort("enough");
          if (signal === other.signal) other.abort("enough");
        });
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        heard.resolve(signal?.reason);
      }, stop.signal);
      expect(result.reason).toBe("aborted");
      expect(await heard.promise).toBe("enough");
    }
  });

  it("that throws or ends early gives a turn with an error and what had arrived", async () => {
    const start: ModelEvent[] = [
      { type: "block.start", index: 0, block: { type: "text" } },
      { type: "text.delta", index: 0, delta: "So " },
      { type: "text.delta", index: 0, delta: "far" },
    ];
    const streams: StreamModel[] = [
      () => {
        throw new Error("no such model");
      },
      async function* () {
        yield* start;
        throw new Error("socket hang up");
      },
      async function* () {
        yield* start;
      },
    ];
    const ends = [];
    for (const stream of streams) {
      const { result } = await run(stream);
      ends.push([result.reason, result.error?.message, result.error?.emitted, result.text]);
    }
    expect(ends).toEqual([
      ["error", "no such model", false, ""],
      ["error", "socket hang up", true, "So far"],
      ["error", "The stream ended before the turn did.", true, "So far"],
    ]);
  });

  it("emits one start event, even if the vendor sends several", async () => {
    const request = { api: "a", provider: "p", model: "m" };
    const { events } = await run(async function* () {
      yield { type: "start", request, warnings: [] };
      yield { type: "start", request, warnings: [] };
      yield* [...toEvents(assistant("ok"))].slice(1);
    });
    expect(events.filter((event) => event.type === "model.start")).toHaveLength(1);
  });

  it("is read to its end and closed, and events after the end are ignored", async () => {
    let closed = false;
    const { result } = await run(async function* () {
      try {
        yield* toEvents(assistant("ok"));
        yield { type: "text.delta", index: 0, delta: "late" };
        await new Promise(() => {});
      } finally {
        closed = true;
      }
    });
    expect(result.text).toBe("ok");
    expect(closed).toBe(true);
  });

  it("that does not close after its last event is closed", async () => {
    let returned = 0;
    const events = [...toEvents(assistant("ok"))];
    const { result } = await run(() => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const value = events.shift();
          return value === undefined ? new Promise(() => {}) : Promise.resolve({ value, done: false });
        },
        return: () => {
          returned++;
          return Promise.reject(new Error("already gone"));
        },
      }),
    }));
    expect(result).toMatchObject({ reason: "done", text: "ok" });
    expect(returned).toBe(1);
  });

  it("that ignores an abort is abandoned, keeping what had arrived", async () => {
    const controller = new AbortController();
    let returned = false;
    const stream: StreamModel = async function* () {
      try {
        yield { type: "block.start", index: 0, block: { type: "text" } };
        yield { type: "text.delta", index: 0, delta: "So far" };
        controller.abort();
        await new Promise(() => {});
      } finally {
        returned = true;
      }
    };
    const { result } = await run(stream, controller.signal);
    expect(result).toMatchObject({ reason: "aborted", text: "So far" });
    expect(result.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "aborted" });
    // A generator that hangs cannot be closed, so the loop does not wait for it.
    expect(returned).toBe(false);
  });

  it("that continues after it was abandoned emits nothing more", async () => {
    const controller = new AbortController();
    const late = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const told: string[] = [];
    const stream: StreamModel = async function* () {
      yield { type: "block.start", index: 0, block: { type: "text" } };
      controller.abort();
      await late.promise;
      try {
        yield { type: "text.delta", index: 0, delta: "late" };
      } finally {
        over.resolve();
      }
    };
    const config = { model: MODEL, stream, abortGraceMs: 10, signal: controller.signal };
    const context = { system: SYSTEM, history: [], input: [user("go")], tools: [] };
    await runAgentLoop(context, config, ({ type }) => void told.push(type));
    late.resolve();
    await over.promise;
    expect(told.at(-1)).toBe("run.end");
  });

  it("that ends on an abort returns its own partial turn", async () => {
    const controller = new AbortController();
    const { result } = await run(async function* (_model, _context, options) {
      yield { type: "block.start", index: 0, block: { type: "text" } };
      yield { type: "text.delta", index: 0, delta: "So " };
      controller.abort();
      expect(options?.signal?.aborted).toBe(true);
      const error = {
        code: "aborted",
        message: "",
        retryable: false,
        emitted: true,
        scope: "provider",
      } as const;
      yield { type: "error", error, partial: assistant("So", { stopReason: "aborted" }) };
    }, controller.signal);
    expect(result).toMatchObject({ reason: "aborted", text: "So" });
  });

  it("that restarts after a failed attempt keeps only the usage of that attempt", async () => {
    const request = { api: "a", provider: "p", model: "m" };
    const failure = {
      provider: "p",
      model: "m",
      code: "network",
      message: "cut",
      usage: usage(10, 3, 7),
    } as const;
    const next = { kind: "retry", provider: "p", model: "m", delayMs: 0 } as const;
    const { result, events } = await run(async function* () {
      yield { type: "start", request, warnings: [] };
      yield { type: "block.start", index: 0, block: { type: "text" } };
      yield { type: "text.delta", index: 0, delta: "So far" };
      yield { type: "attempt", failure, next, discard: true };
      yield* toEvents(assistant("Done.", { usage: usage(20, 5, 11) }), 1);
    });
    expect(result).toMatchObject({ reason: "done", text: "Done." });
    expect(result.used.usage).toEqual(usage(30, 8, 18));
    const told = events.map((event) => event.type);
    expect(told.slice(told.indexOf("model.start"))).toEqual([
      "model.start",
      "block.start",
      "text.delta",
      "attempt",
      "model.discard",
      "model.start",
      "block.start",
      "text.delta",
      "block.end",
      "usage",
      "message",
      "turn.end",
      "run.end",
    ]);
    expect(events.find((event) => event.type === "model.discard")).toMatchObject({
      reason: "retry",
      failure,
    });
  });

  it("that breaks off after a discarded attempt keeps only later content", async () => {
    const failure = { provider: "p", model: "m", code: "network", message: "cut" } as const;
    const next = { kind: "retry", provider: "p", model: "m", delayMs: 0 } as const;
    const { result } = await run(async function* () {
      yield { type: "block.start", index: 0, block: { type: "text" } };
      yield { type: "text.delta", index: 0, delta: "Void" };
      yield { type: "block.start", index: 1, block: { type: "text" } };
      yield { type: "text.delta", index: 1, delta: "void" };
      yield { type: "attempt", failure, next, discard: true };
      yield { type: "block.start", index: 0, block: { type: "text" } };
      yield { type: "text.delta", index: 0, delta: "Kept" };
    });
    expect(result.text).toBe("Kept");
  });
});
