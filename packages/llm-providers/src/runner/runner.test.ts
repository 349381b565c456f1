import type {
  Model,
  ModelContext,
  ModelErrorCode,
  ModelEvent,
  StreamModel,
  Usage,
} from "@signalbox/agent-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createProviders, type Provider } from "../provider.ts";
import { failure } from "../stream/errors.ts";
import { modelTurn } from "../stream/turn.ts";
import { readTurn } from "../testkit/index.ts";
import { createModelRunner, type RunnerOptions } from "./runner.ts";

/** What a pretend vendor does with one request. */
type Play =
  | { readonly say: string }
  | {
      readonly fail: ModelErrorCode;
      readonly after?: string;
      readonly retryAfterMs?: number;
      readonly midCall?: true;
      /** Milliseconds it takes, or all of the silence it is granted. */
      readonly takes?: number | "patience";
      readonly usage?: Usage;
    };

const model = (provider: string, id = "m", tools: Model["tools"] = "native"): Model => ({
  id,
  provider,
  api: "pretend",
  contextWindow: 1_000,
  maxOutputTokens: 100,
  input: ["text"],
  thinking: [],
  tools,
});
const context: ModelContext = {
  system: { stable: "" },
  messages: [{ role: "user", content: "Go.", timestamp: 0 }],
  tools: [],
};

/** A runner over pretend vendors that play what they are told, in order, and the requests they saw. */
function stage(
  plays: readonly Play[],
  accounts: Record<string, readonly string[]>,
  options: Partial<RunnerOptions> = {},
) {
  const seen: string[] = [];
  const slept: number[] = [];
  const silences: (number | undefined)[] = [];
  let now = 0;
  const pretend: Provider = {
    api: "pretend",
    connect:
      ({ apiKey }): StreamModel =>
      (asked, _context, how) =>
        modelTurn({ model: asked, options: how }, async (turn) => {
          const play = plays[seen.length];
          seen.push(`${asked.provider}/${asked.id} ${apiKey ?? "-"}`);
          if (play === undefined) throw new Error("nothing more to play");
          silences.push(how?.silenceMs);
          turn.start();
          if ("say" in play) {
            const index = turn.open({ type: "text" });
            turn.text(index, play.say);
            turn.finish("end_turn");
          } else {
            if (play.midCall) turn.args(turn.open({ type: "toolCall", id: "c", name: "t" }), '{"a');
            if (play.after !== undefined) turn.text(turn.open({ type: "text" }), play.after);
            if (play.usage !== undefined) turn.usage(play.usage);
            now += play.takes === "patience" ? (how?.silenceMs ?? 300_000) : (play.takes ?? 0);
            turn.fail(failure(play.fail, `${play.fail} here`, { retryAfterMs: play.retryAfterMs }));
          }
          return { pull: () => false, close: () => {} };
        }),
  };
  const runner = createModelRunner({
    providers: createProviders([pretend]),
    accounts: Object.entries(accounts).map(([name, keys]) => ({ name, api: "pretend", keys })),
    now: () => now,
    random: () => 0.5,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
    ...options,
  });
  return {
    runner,
    seen,
    slept,
    silences,
    now: () => now,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

const kinds = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === "attempt" ? [`${event.failure.code}>${event.next.kind}`] : []));

describe("a model runner", () => {
  it("tries again after a passing failure, waiting longer each time", async () => {
    const { runner, seen, slept } = stage([{ fail: "overloaded" }, { fail: "network" }, { say: "hi" }], {
      a: ["1"],
    });
    const turn = await readTurn(runner.stream(model("a"), context));
    expect(turn.error).toBeUndefined();
    expect(kinds(turn.events)).toEqual(["overloaded>retry", "network>retry"]);
    expect(seen).toHaveLength(3);
    expect(slept).toEqual([375, 750]);
  });

  it("honours retry-after up to a bound, and takes a longer one for a refusal", async () => {
    const short = stage([{ fail: "overloaded", retryAfterMs: 9_000 }, { say: "hi" }], { a: ["1"] });
    await readTurn(short.runner.stream(model("a"), context));
    expect(short.slept).toEqual([9_000]);
    const long = stage([{ fail: "overloaded", retryAfterMs: 90_000 }, { say: "hi" }], { a: ["1"] });
    const turn = await readTurn(long.runner.stream(model("a"), context));
    expect(turn.error?.code).toBe("overloaded");
    expect(long.slept).toEqual([]);
  });

  it("goes on to the next key, and lets the refused one rest for as long as its cause suggests", async () => {
    const { runner, seen, pass } = stage(
      [
        { fail: "rate_limit", retryAfterMs: 60_000 },
        { say: "a" },
        { say: "b" },
        { fail: "auth" },
        { say: "c" },
      ],
      { a: ["1", "2"] },
    );
    expect(kinds((await readTurn(runner.stream(model("a"), context))).events)).toEqual(["rate_limit>key"]);
    expect(runner.keys()).toEqual([
      { name: "a#1", cause: "rate_limit", restsUntil: 60_000 },
      { name: "a#2" },
    ]);
    await readTurn(runner.stream(model("a"), context));
    pass(60_001);
    await readTurn(runner.stream(model("a"), context));
    expect(seen).toEqual(["a/m 1", "a/m 2", "a/m 2", "a/m 2", "a/m 1"]);
    expect(runner.keys()[1]).toMatchObject({ name: "a#2", cause: "auth" });
  });

  it("tries a key again within the hour, whatever its vendor asks for", async () => {
    const { runner } = stage([{ fail: "rate_limit", retryAfterMs: 1e12 }, { say: "hi" }], { a: ["1", "2"] });
    await readTurn(runner.stream(model("a"), context));
    expect(runner.keys()[0]?.restsUntil).toBe(3_600_000);
  });

  it("goes on to the agent's other models, and skips those of a provider that cannot be reached", async () => {
    const { runner, seen } = stage([{ fail: "billing" }, { say: "hi" }], { a: ["1"], b: ["2"] });
    const turn = await readTurn(runner.withFallbacks([model("b")])(model("a"), context));
    expect(kinds(turn.events)).toEqual(["billing>model"]);
    expect(turn.message).toMatchObject({ provider: "b" });
    expect(seen).toEqual(["a/m 1", "b/m 2"]);

    const away = stage(
      [{ fail: "network" }, { say: "hi" }],
      { a: ["1"], b: ["2"] },
      { retry: { retries: 0 } },
    );
    await readTurn(away.runner.withFallbacks([model("a", "n"), model("b")])(model("a"), context));
    expect(away.seen).toEqual(["a/m 1", "b/m 2"]);
  });

  it("does not ask a silent model twice", async () => {
    const { runner, seen } = stage([{ fail: "timeout" }, { say: "hi" }], { a: ["1"], b: ["2"] });
    const turn = await readTurn(runner.withFallbacks([model("b")])(model("a"), context));
    expect(kinds(turn.events)).toEqual(["timeout>model"]);
    expect(seen).toEqual(["a/m 1", "b/m 2"]);
  });

  it("begins with a model whose keys do not rest", async () => {
    const { runner, seen } = stage([{ fail: "billing" }, { say: "1" }, { say: "2" }], { a: ["1"], b: ["2"] });
    const stream = runner.withFallbacks([model("b")]);
    await readTurn(stream(model("a"), context));
    await readTurn(stream(model("a"), context));
    expect(seen).toEqual(["a/m 1", "b/m 2", "b/m 2"]);
  });

  it("asks a resting key all the same when there is nobody else, since it may have been mended", async () => {
    const { runner, seen } = stage([{ fail: "billing" }, { say: "hi" }], { a: ["1"] });
    expect((await readTurn(runner.stream(model("a"), context))).error?.code).toBe("billing");
    expect((await readTurn(runner.stream(model("a"), context))).error).toBeUndefined();
    expect(seen).toHaveLength(2);
    expect(runner.keys()).toEqual([{ name: "a#1" }]);
  });

  it("retries nothing once text was shown", async () => {
    const { runner, seen } = stage([{ fail: "overloaded", after: "so far" }, { say: "again" }], {
      a: ["1", "2"],
    });
    const turn = await readTurn(runner.withFallbacks([model("a", "n")])(model("a"), context));
    expect(turn.error).toMatchObject({ code: "overloaded", emitted: true });
    expect(turn.message.content).toEqual([{ type: "text", text: "so far" }]);
    expect(seen).toHaveLength(1);
  });

  it("leaves no trace of half a call when it tries again", async () => {
    const { runner } = stage([{ fail: "network", midCall: true }, { say: "hi" }], { a: ["1"] });
    const turn = await readTurn(runner.stream(model("a"), context));
    expect(turn.message.content).toEqual([{ type: "text", text: "hi" }]);
  });

  it("does not repeat what cannot succeed", async () => {
    for (const code of ["overflow", "aborted"] as const) {
      const { runner, seen } = stage([{ fail: code }], { a: ["1"], b: ["2"] });
      const turn = await readTurn(runner.withFallbacks([model("b")])(model("a"), context));
      expect(turn.error?.code).toBe(code);
      expect(seen).toHaveLength(1);
    }
  });

  it("says of each attempt what went wrong when all have failed, and names no key", async () => {
    const { runner } = stage(
      [
        { fail: "auth" },
        { fail: "overloaded" },
        { fail: "overloaded" },
        { fail: "overloaded" },
        { fail: "invalid" },
      ],
      { a: ["secret-one", "secret-two"], b: ["secret-three"] },
    );
    const turn = await readTurn(runner.withFallbacks([model("b")])(model("a"), context));
    expect(turn.error?.attempts?.map((one) => `${one.key} ${one.code}`)).toEqual([
      "a#1 auth",
      "a#2 overloaded",
      "a#2 overloaded",
      "a#2 overloaded",
      "b#1 invalid",
    ]);
    expect(turn.error?.message).toMatch(/^All 5 attempts failed\. a\/m \(a#1\): auth here; /);
    expect(JSON.stringify(turn.events)).not.toContain("secret");
  });

  it("reports a failed attempt before it waits, and stops waiting when aborted", async () => {
    const abort = new AbortController();
    const { runner } = stage(
      [{ fail: "overloaded" }, { say: "never" }],
      { a: ["1"] },
      {
        sleep: (_ms, signal) =>
          new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      },
    );
    const events: ModelEvent[] = [];
    for await (const event of runner.stream(model("a"), context, { signal: abort.signal })) {
      events.push(event);
      if (event.type === "attempt") setTimeout(() => abort.abort());
    }
    expect(events.map((event) => event.type)).toEqual(["attempt", "start", "error"]);
    expect(events.at(-1)).toMatchObject({ error: { code: "aborted" }, partial: { stopReason: "aborted" } });
  });

  it("keeps some of its patience for the other models, and asks none when it is gone", async () => {
    const stall: Play = { fail: "timeout", takes: "patience" };
    const accounts = { a: ["1"], b: ["2"], c: ["3"] };
    const three = stage([stall, stall, stall], accounts);
    const turn = await readTurn(three.runner.withFallbacks([model("b"), model("c")])(model("a"), context));
    expect(turn.error?.code).toBe("timeout");
    expect(three.silences).toEqual([35_000, 10_000, 10_000]);
    const two = stage([stall, stall], accounts);
    await readTurn(two.runner.withFallbacks([model("b")])(model("a"), context));
    expect(two.silences).toEqual([40_000, 15_000]);
    const one = stage([stall], accounts);
    await readTurn(one.runner.withFallbacks([model("a", "n")])(model("a"), context));
    expect(one.silences).toEqual([55_000]);
  });

  it("leaves an account that states its own time-outs to them", async () => {
    const plays: readonly Play[] = [{ fail: "timeout", takes: "patience" }, { say: "hi" }];
    const { runner, silences } = stage(
      plays,
      {},
      {
        accounts: [
          { name: "slow", api: "pretend", keys: [], timeouts: { firstByteMs: 300_000 } },
          { name: "b", api: "pretend", keys: [] },
        ],
      },
    );
    const turn = await readTurn(runner.withFallbacks([model("b")])(model("slow"), context));
    expect(turn.error).toBeUndefined();
    expect(silences).toEqual([undefined, 55_000]);
  });

  it("says within a minute that nobody answers, however they fail", async () => {
    const play = fc.record({
      fail: fc.constantFrom<ModelErrorCode>(
        "rate_limit",
        "overloaded",
        "network",
        "timeout",
        "auth",
        "invalid",
      ),
      takes: fc.oneof(fc.constant("patience" as const), fc.integer({ min: 0, max: 5_000 })),
      retryAfterMs: fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 40_000 })),
    });
    const plays = fc
      .array(play, { minLength: 40, maxLength: 40 })
      .map((all): Play[] =>
        all.map(({ retryAfterMs, ...rest }) =>
          retryAfterMs === undefined ? rest : { ...rest, retryAfterMs },
        ),
      );
    await fc.assert(
      fc.asyncProperty(plays, fc.nat(3), async (given, others) => {
        const all = stage(given, { a: ["1", "2"], b: ["3"], c: ["4", "5"], d: ["6"] });
        const fallbacks = ["b", "c", "d"].slice(0, others).map((name) => model(name));
        const turn = await readTurn(all.runner.withFallbacks(fallbacks)(model("a"), context));
        expect(turn.error).toBeDefined();
        expect(all.now()).toBeLessThanOrEqual(60_000);
      }),
      { numRuns: 500 },
    );
  });

  it("knows nobody of that name", async () => {
    const turn = await readTurn(stage([], {}).runner.stream(model("nobody"), context));
    expect(turn.error).toMatchObject({ code: "invalid", message: "No account is configured for nobody/m." });
    expect(() => stage([], { a: [] }, { accounts: [{ name: "x", api: "unspoken", keys: [] }] })).toThrow(
      /unspoken/,
    );
  });
});

describe("an attempt that broke after it had said something", () => {
  const broke: Play = {
    fail: "network",
    after: "so far",
    usage: {
      input: { total: 7, uncached: 7, cacheRead: undefined, cacheWrite: undefined },
      output: { total: 2, reasoning: undefined },
      source: "reported",
      costMicros: 11,
    },
  };
  const unseen = { shown: () => false };

  it("is made again where nobody has seen any of it, and what it said is void", async () => {
    const { runner, seen, slept } = stage([broke, { say: "again" }], { a: ["1"] });
    const { events, message } = await readTurn(runner.stream(model("a"), context, unseen));
    expect(events.map((event) => event.type)).toEqual([
      "start",
      "block.start",
      "text.delta",
      "usage",
      "block.end",
      "attempt",
      "start",
      "block.start",
      "text.delta",
      "block.end",
      "finish",
    ]);
    expect(events.find((event) => event.type === "attempt")).toMatchObject({
      discard: true,
      failure: { code: "network", usage: { costMicros: 11 } },
      next: { kind: "retry" },
    });
    expect(message.content).toEqual([{ type: "text", text: "again" }]);
    expect(seen).toHaveLength(2);
    expect(slept).toEqual([375]);
  });

  it("goes on to other models, and in the end says what each of them said", async () => {
    const { runner, seen } = stage([broke, { fail: "timeout", after: "hm" }, broke, broke, broke], {
      a: ["1"],
      b: ["2"],
    });
    const stream = runner.withFallbacks([model("b")]);
    const turn = await readTurn(stream(model("a"), context, unseen));
    expect(kinds(turn.events)).toEqual(["network>retry", "timeout>model", "network>retry", "network>retry"]);
    expect(turn.error).toMatchObject({ code: "network", emitted: true });
    expect(turn.error?.attempts).toHaveLength(5);
    expect(turn.message.error?.attempts).toHaveLength(5);
    expect(seen).toEqual(["a/m 1", "a/m 1", "b/m 2", "b/m 2", "b/m 2"]);
  });

  it("is final where it was seen, at that moment, or where nobody can say", async () => {
    let seenByNow = false;
    const shown = [
      () => true,
      () => seenByNow,
      () => {
        throw new Error("who knows");
      },
    ];
    for (const one of shown) {
      const { runner, seen } = stage([broke, { say: "again" }], { a: ["1"] });
      const types: string[] = [];
      seenByNow = false;
      for await (const event of runner.stream(model("a"), context, { shown: one })) {
        types.push(event.type);
        if (event.type === "text.delta") seenByNow = true;
      }
      expect(types.at(-1)).toBe("error");
      expect(seen).toHaveLength(1);
    }
  });

  it("is not repeated where that cannot succeed", async () => {
    for (const fail of ["aborted", "overflow"] as const) {
      const { runner, seen } = stage([{ fail, after: "so far" }, { say: "again" }], { a: ["1"] });
      const turn = await readTurn(runner.stream(model("a"), context, unseen));
      expect(turn.error?.code).toBe(fail);
      expect(seen).toHaveLength(1);
    }
  });

  it("serves several who wait at once, in order", async () => {
    const { runner } = stage([broke, { say: "again" }], { a: ["1"] });
    const stream = runner.stream(model("a"), context, unseen)[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 13 }, () => stream.next()));
    expect(results.map((result) => (result.done ? "done" : result.value.type)).slice(5)).toEqual([
      "attempt",
      "start",
      "block.start",
      "text.delta",
      "block.end",
      "finish",
      "done",
      "done",
    ]);
  });

  it("stops for good when it is left", async () => {
    const { runner, seen } = stage([broke, { say: "never" }], { a: ["1"] });
    for await (const event of runner.stream(model("a"), context, unseen)) if (event.type === "attempt") break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toHaveLength(1);
  });
});
