import type { Model, ModelContext, ModelEvent, StreamOptions } from "@signalbox/agent-core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { failure } from "../failure/failure.ts";
import { readTurn } from "../testkit/index.ts";
import type { TurnWriter } from "./record.ts";
import { modelTurn, type ReadTurn, type TurnSetup } from "./turn.ts";

const model: Model = {
  id: "m",
  provider: "p",
  api: "a",
  contextWindow: 1,
  maxOutputTokens: 1,
  input: ["text"],
  thinking: [],
  tools: "native",
};
const turn = (open: ReadTurn, signal?: AbortSignal) =>
  modelTurn({ model, options: signal === undefined ? {} : { signal }, now: () => 7 }, open);
const types = (events: readonly ModelEvent[]): string[] => events.map((event) => event.type);

describe("a turn", () => {
  it("reads no further than events are pulled", async () => {
    let pulls = 0;
    const stream = turn(async function* (writer) {
      const index = writer.open({ type: "text" });
      yield;
      for (;;) {
        pulls++;
        writer.append(index, `${pulls}`);
        yield;
      }
    });
    expect(pulls).toBe(0);
    await stream.next();
    await stream.next();
    expect(pulls).toBe(0);
    for (let i = 1; i <= 3; i++) {
      expect((await stream.next()).value).toMatchObject({ type: "text.delta", delta: `${i}` });
      expect(pulls).toBe(i);
    }
    await stream.return?.();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(pulls).toBe(3);
  });

  it("resolves several waiting calls in order", async () => {
    const stream = turn(async function* (writer) {
      const index = writer.open({ type: "text" });
      for (const said of ["1", "2"]) {
        writer.append(index, said);
        yield;
      }
      writer.finish("end_turn");
    });
    const results = await Promise.all(Array.from({ length: 8 }, () => stream.next()));
    expect(results.map((result) => (result.done ? "done" : result.value.type))).toEqual([
      "start",
      "block.start",
      "text.delta",
      "text.delta",
      "block.end",
      "finish",
      "done",
      "done",
    ]);
  });

  it("joins deltas of a block that arrive together", async () => {
    const { events } = await readTurn(
      turn(async function* (writer) {
        const [text, call] = [
          writer.open({ type: "text" }),
          writer.open({ type: "toolCall", id: "1", name: "t" }),
        ];
        for (const piece of ["a", "b"]) writer.append(text, piece);
        yield;
        for (const piece of ["c", "d"]) writer.append(text, piece);
        for (const piece of ['{"e":', "1}"]) writer.append(call, piece);
        writer.append(text, "f");
        yield writer.finish("tool_use");
      }),
    );
    const deltas = events.flatMap((event) => ("delta" in event ? [[event.index, event.delta]] : []));
    expect(deltas).toEqual([
      [0, "ab"],
      [0, "cd"],
      [1, '{"e":1}'],
      [0, "f"],
    ]);
  });

  it("keeps open blocks apart", async () => {
    const { message } = await readTurn(
      turn(async function* (writer) {
        const one = writer.open({ type: "toolCall", id: "1", name: "x" });
        const two = writer.open({ type: "toolCall", id: "2", name: "y" });
        writer.append(two, '{"b"');
        writer.append(one, '{"a":1}');
        writer.append(two, ":2}");
        writer.close(one);
        writer.finish("tool_use", "tools");
        yield;
      }),
    );
    expect(message).toMatchObject({
      content: [{ args: { a: 1 } }, { args: { b: 2 } }],
      stopReason: "tool_use",
      rawStopReason: "tools",
      timestamp: 7,
    });
  });

  it("ignores writes after its end and to unknown blocks", async () => {
    const { events } = await readTurn(
      turn(async function* (writer) {
        writer.append(9, "nowhere");
        writer.close(9);
        writer.finish("end_turn");
        writer.append(writer.open({ type: "text" }), "late");
        writer.block({ type: "text", text: "late" });
        writer.fail({ code: "network", message: "late", retryable: true, scope: "provider" });
        yield;
      }),
    );
    expect(types(events)).toEqual(["start", "finish"]);
  });

  it("seals a call as malformed, not as empty, if its arguments are not an object", async () => {
    const { message } = await readTurn(
      turn(async function* (writer) {
        for (const text of ["", "[1]", '"x"', "{", "7"]) {
          const index = writer.open({ type: "toolCall", id: text, name: "x" });
          writer.append(index, text);
          writer.close(index);
        }
        writer.finish("tool_use");
        yield;
      }),
    );
    expect(message.content.map((block) => block.type === "toolCall" && block.args)).toEqual([
      {},
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("closes a source that opens only after the turn was aborted", async () => {
    const abort = new AbortController();
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<boolean>();
    const reading = readTurn(
      turn(async function* (writer) {
        await opened.promise;
        try {
          yield;
        } finally {
          closed.resolve(writer.signal.aborted);
        }
      }, abort.signal),
    );
    abort.abort();
    expect((await reading).error?.code).toBe("aborted");
    opened.resolve();
    expect(await closed.promise).toBe(true);
  });

  it("replaces a lone surrogate, and joins a pair that was cut in two", async () => {
    const { message, events } = await readTurn(
      turn(async function* (writer) {
        const text = writer.open({ type: "text" });
        for (const piece of ["a\ud83d", "\ude00b", "\ude00", "c\ud83d"]) writer.append(text, piece);
        writer.close(text);
        const call = writer.open({ type: "toolCall", id: "1", name: "t" });
        writer.append(call, '{"a":"\\ud83d","b":"\\ud83d\\ude00"}');
        writer.finish("tool_use");
        yield;
      }),
    );
    expect(message.content).toMatchObject([
      { type: "text", text: "a😀b\ufffdc\ufffd" },
      { type: "toolCall", args: { a: "\ufffd", b: "😀" } },
    ]);
    expect(
      JSON.stringify(events.map((event) => (event.type === "text.delta" ? event.delta : ""))),
    ).not.toMatch(/\\ud83d/);
  });
});

describe("silence", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns when and how a turn over `open` ends, measured with a separate clock. */
  async function endOf(open: ReadTurn, options: StreamOptions = {}, setup: Partial<TurnSetup> = {}) {
    vi.useFakeTimers();
    const begun = Date.now();
    let ended: { readonly ms: number; readonly code: string | undefined } | undefined;
    void readTurn(modelTurn({ model, options, ...setup }, open)).then(({ error }) => {
      ended = { ms: Date.now() - begun, code: error?.code };
    });
    while (ended === undefined && Date.now() - begun < 3_600_000) await vi.advanceTimersByTimeAsync(1_000);
    return ended;
  }
  const never = (): Promise<void> => new Promise(() => {});
  const after = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  const nobodyAnswers: ReadTurn = async function* () {
    await never();
    yield;
  };
  const nothingFollows: ReadTurn = async function* (writer) {
    writer.start();
    yield;
    await never();
  };
  async function* keepAlives(most: number): AsyncGenerator<void> {
    for (let i = 0; i < most; i++) {
      await after(50_000);
      yield;
    }
    await never();
  }

  it.each(["off", "high", "max"] as const)(
    "is told after 55 s, also where thinking is %s",
    async (thinking) => {
      expect(await endOf(nobodyAnswers, { thinking })).toEqual({ ms: 55_000, code: "timeout" });
      expect(await endOf(nothingFollows, { thinking })).toEqual({ ms: 55_000, code: "timeout" });
    },
  );

  it("ends with any byte, including keep-alives", async () => {
    expect(await endOf(() => keepAlives(10), { thinking: "max" })).toEqual({ ms: 555_000, code: "timeout" });
  });

  it("ends the turn after ten minutes of keep-alives alone", async () => {
    expect(await endOf(() => keepAlives(100), { thinking: "max" })).toEqual({ ms: 650_000, code: "timeout" });
  });

  it("is limited by the request or by the account", async () => {
    expect(await endOf(nobodyAnswers, { silenceMs: 10_000 })).toEqual({ ms: 10_000, code: "timeout" });
    expect(await endOf(nothingFollows, { silenceMs: 10_000 })).toEqual({ ms: 10_000, code: "timeout" });
    const timeouts = { firstByteMs: 300_000, idleMs: 120_000 };
    expect((await endOf(nobodyAnswers, { silenceMs: 10_000 }, { timeouts }))?.ms).toBe(300_000);
    expect((await endOf(nothingFollows, { silenceMs: 10_000 }, { timeouts }))?.ms).toBe(120_000);
  });

  it("is not limited if the timeout is infinite", async () => {
    const timeouts = { firstByteMs: Number.POSITIVE_INFINITY };
    expect(await endOf(nobodyAnswers, {}, { timeouts })).toBeUndefined();
  });
});

describe("the usage of an incomplete answer", () => {
  const priced: Model = { ...model, prices: { input: 1_000_000, output: 10_000_000, checked: "2026-01-01" } };
  const context: ModelContext = {
    system: { stable: "s".repeat(40) },
    messages: [{ role: "user", content: "m".repeat(360), timestamp: 0 }],
    tools: [],
  };
  const says = (before: (writer: TurnWriter) => void, after: (writer: TurnWriter) => void): ReadTurn =>
    async function* (writer) {
      before(writer);
      const index = writer.open({ type: "text" });
      writer.append(index, "w".repeat(400));
      yield;
      after(writer);
    };
  const usageOf = async (read: ReadTurn, setup: Partial<TurnSetup> = {}) => {
    const { message, events } = await readTurn(modelTurn({ model: priced, ...setup }, read));
    // The events contain the same data as the turn.
    expect(events.findLast(({ type }) => type === "usage")).toEqual(
      message.usage && { type: "usage", usage: message.usage },
    );
    return message.usage;
  };
  const cut = (writer: TurnWriter): void => writer.fail(failure("aborted", "stopped"));

  it("includes an estimate of the text since the vendor's last count", async () => {
    const counted = (writer: TurnWriter): void => {
      writer.start();
      writer.tokens({ input: 100, output: 1 });
    };
    expect(await usageOf(says(counted, cut))).toMatchObject({
      input: { total: 100 },
      output: { total: 101 },
      source: "estimated",
      costMicros: 100 + 10 * 101,
    });
    expect(await usageOf(says(counted, (writer) => writer.finish("end_turn")))).toMatchObject({
      output: { total: 1 },
      source: "reported",
    });
  });

  it("is the vendor's count if it came after the last text", async () => {
    const counted = (writer: TurnWriter): void => {
      writer.tokens({ input: 100, output: 90 });
      cut(writer);
    };
    expect(await usageOf(says(() => {}, counted))).toMatchObject({
      output: { total: 90 },
      source: "reported",
    });
  });

  it("includes an estimate of the request if the vendor counted nothing", async () => {
    expect(
      await usageOf(
        says(() => {}, cut),
        { context },
      ),
    ).toMatchObject({
      input: { total: 105 },
      output: { total: 100 },
      source: "estimated",
    });
  });

  it("is unknown if nothing was written, or without any count or request", async () => {
    const silent: ReadTurn = async function* (writer) {
      yield;
      cut(writer);
    };
    expect(await usageOf(silent, { context })).toBeUndefined();
    expect(await usageOf(says(() => {}, cut))).toBeUndefined();
  });
});
