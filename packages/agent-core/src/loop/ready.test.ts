import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assistant,
  collect,
  eventsOf,
  MODEL,
  SYSTEM,
  text,
  tool,
  toolCall,
  user,
} from "../../test/scripted.ts";
import type {
  AgentEvent,
  AgentLoopConfig,
  ModelEvent,
  ModelStream,
  RunResult,
  StreamModel,
} from "../index.ts";
import { agentLoop, runAgentLoop, streamOf } from "../index.ts";

const TEXT = assistant([
  { type: "thinking", text: "let me see" },
  { type: "text", text: "one two three four five six" },
]);
const CALLS = assistant([toolCall("a", "t", { x: 1 }), toolCall("b", "t", { x: 2 })]);

/** The events in portions: the first of each is waited for, the others are ready. */
function inPortions(events: readonly ModelEvent[], sizes: readonly number[]): ModelStream {
  let at = 0;
  let portion = 0;
  let left = 0;
  return {
    [Symbol.asyncIterator]: () => ({
      nextReady() {
        if (left === 0) return undefined;
        left--;
        return events[at++];
      },
      async next() {
        await undefined;
        const value = events[at++];
        if (value === undefined) return { done: true, value };
        left = Math.min(sizes[portion++ % sizes.length] ?? 0, events.length - at);
        return { done: false, value };
      },
    }),
  };
}

async function run(
  stream: StreamModel,
  extra: Partial<AgentLoopConfig> = {},
): Promise<{ result: RunResult; events: readonly AgentEvent[] }> {
  const loop = agentLoop(
    { system: SYSTEM, history: [], input: [user("go")], tools: [tool("t", async () => text("ok"))] },
    { model: MODEL, stream, abortGraceMs: 10, now: () => 1, ...extra },
  );
  const events = await collect(loop);
  return { result: await loop.result(), events };
}

function watched(
  message: typeof TEXT,
  watch: (event: AgentEvent) => void | Promise<void>,
  pieces = 9,
): Promise<RunResult> {
  return runAgentLoop(
    { system: SYSTEM, history: [], input: [user("go")], tools: [] },
    { model: MODEL, stream: () => streamOf(eventsOf(message, pieces)) },
    watch,
  );
}

describe("events that are ready", () => {
  it("make the same run as those that are waited for, however they come", async () => {
    const turns = [CALLS, TEXT].map((message) => [...eventsOf(message, 7)]);
    const runOver = (streamed: (events: readonly ModelEvent[]) => ModelStream) => {
      let turn = 0;
      return run(() => streamed(turns[turn++] ?? []));
    };
    const waited = await runOver(async function* (events) {
      yield* events;
    });
    expect(waited.result.text).toBe("one two three four five six");
    expect(await runOver(streamOf)).toEqual(waited);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(12), { minLength: 1, maxLength: 8 }), async (sizes) => {
        expect(await runOver((events) => inPortions(events, sizes))).toEqual(waited);
      }),
      { numRuns: 50 },
    );
  });

  it("wait for whoever watches", async () => {
    let busy = false;
    let overtaken = 0;
    const result = await watched(TEXT, async () => {
      if (busy) overtaken++;
      busy = true;
      await undefined;
      busy = false;
    });
    expect(result.text).toBe("one two three four five six");
    expect(overtaken).toBe(0);
  });

  it("leave others in the process their turn, however many there are", async () => {
    const long = assistant("x".repeat(1_000));
    let ticks = 0;
    let over = false;
    const tick = async (): Promise<void> => {
      while (!over) {
        ticks++;
        await undefined;
      }
    };
    const ticking = tick();
    let most = 0;
    let since = 0;
    let seen = 0;
    await watched(
      long,
      (event) => {
        if (event.type !== "text.delta") return;
        since = ticks === seen ? since + 1 : 1;
        seen = ticks;
        most = Math.max(most, since);
      },
      1_000,
    );
    over = true;
    await ticking;
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(64);
  });

  it("may be nonsense, or throw: the turn ends, and nothing hangs", async () => {
    const broken = (nextReady: unknown, next: () => Promise<IteratorResult<ModelEvent>> = ended) => {
      const stream: ModelStream = {
        [Symbol.asyncIterator]: () => Object.assign({ next }, { nextReady: nextReady as () => undefined }),
      };
      return run(() => stream);
    };
    const ended = (): Promise<IteratorResult<ModelEvent>> =>
      Promise.resolve({ done: true, value: undefined });
    const throws = await broken(() => {
      throw new Error("no longer there");
    });
    expect(throws.result.error).toMatchObject({ code: "protocol", message: "no longer there" });
    expect((await broken(1)).result.error?.code).toBe("protocol");
    expect((await broken(() => null)).result.error?.code).toBe("protocol");
    expect((await broken(() => 7)).result.error?.code).toBe("protocol");
    expect((await broken(() => ({ type: "none" }))).result.error?.code).toBe("protocol");
    expect((await broken(() => Promise.resolve())).result.error?.code).toBe("protocol");
  });
});

describe("a stream that gives what is no event", () => {
  it("is closed", async () => {
    let closed = 0;
    for (const odd of [null, 7, { type: "error" }]) {
      await run(async function* () {
        try {
          yield odd as unknown as ModelEvent;
          await new Promise(() => {});
        } finally {
          closed++;
        }
      });
    }
    expect(closed).toBe(3);
  });
});

describe("streamOf", () => {
  it("runs a generator only as its events are asked for, and ends it when it is left", async () => {
    const log: string[] = [];
    function* events(): Generator<ModelEvent> {
      try {
        for (const event of eventsOf(TEXT)) {
          log.push(event.type);
          yield event;
        }
      } finally {
        log.push("left");
      }
    }
    for await (const event of streamOf(events())) if (event.type === "block.start") break;
    expect(log).toEqual(["start", "block.start", "left"]);
  });

  it("rejects where the generator throws, and so ends a turn in an error", async () => {
    function* events(): Generator<ModelEvent> {
      yield { type: "start", request: { api: "a", provider: "p", model: "m" }, warnings: [] };
      throw new Error("out of answers");
    }
    await expect(
      (async () => {
        for await (const _ of streamOf(events()));
      })(),
    ).rejects.toThrow("out of answers");
    const { result } = await run(() => streamOf(events()));
    expect(result.error).toMatchObject({ code: "protocol", message: "out of answers" });
  });
});
