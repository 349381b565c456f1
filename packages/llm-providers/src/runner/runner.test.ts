import type { ModelEvent } from "@signalbox/agent-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { context, kinds, model, type Play, stage } from "../../test/support/stage.ts";
import { failure } from "../failure/failure.ts";
import { createProviders, type Provider } from "../provider/provider.ts";
import { checkEvents, readTurn } from "../testkit/index.ts";
import { modelTurn } from "../turn/turn.ts";

describe("a model runner", () => {
  it("retries after a retryable failure with a growing delay", async () => {
    const { runner, seen, slept } = stage([{ fail: "overloaded" }, { fail: "network" }, { say: "hi" }], {
      a: ["1"],
    });
    const turn = await readTurn(runner.stream(model("a"), context));
    expect(turn.error).toBeUndefined();
    expect(kinds(turn.events)).toEqual(["overloaded>retry", "network>retry"]);
    expect(seen).toHaveLength(3);
    expect(slept).toEqual([375, 750]);
  });

  it("waits for retry-after up to a limit, and treats a longer one as a refusal", async () => {
    const short = stage([{ fail: "overloaded", retryAfterMs: 9_000 }, { say: "hi" }], { a: ["1"] });
    await readTurn(short.runner.stream(model("a"), context));
    expect(short.slept).toEqual([9_000]);
    const long = stage([{ fail: "overloaded", retryAfterMs: 90_000 }, { say: "hi" }], { a: ["1"] });
    const turn = await readTurn(long.runner.stream(model("a"), context));
    expect(turn.error?.code).toBe("overloaded");
    expect(long.slept).toEqual([]);
  });

  it("tries the next key and lets the refused one rest", async () => {
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

  it.each([0, 1])("uses its own delay if the vendor asks for a wait of %i ms", async (retryAfterMs) => {
    const refusals: Play[] = Array.from({ length: 50 }, () => ({
      fail: "rate_limit",
      retryAfterMs,
      takes: 5,
    }));
    const one = stage(refusals, { a: ["1"] });
    expect((await readTurn(one.runner.stream(model("a"), context))).error?.code).toBe("rate_limit");
    expect(one.seen).toEqual(["a/m 1", "a/m 1", "a/m 1"]);
    expect(one.slept).toEqual([375, 750]);
    const two = stage(refusals, { a: ["1", "2"] });
    const turn = await readTurn(two.runner.stream(model("a"), context));
    expect(kinds(turn.events)).toEqual(["rate_limit>key", "rate_limit>retry", "rate_limit>retry"]);
    expect(two.seen).toEqual(["a/m 1", "a/m 2", "a/m 2", "a/m 2"]);
    expect(two.slept).toEqual([375, 750]);
  });

  it("counts retries across keys", async () => {
    const { runner, seen } = stage(
      [
        { fail: "overloaded" },
        { fail: "overloaded" },
        { fail: "auth" },
        { fail: "overloaded" },
        { say: "hi" },
      ],
      { a: ["1", "2"] },
    );
    expect((await readTurn(runner.stream(model("a"), context))).error?.code).toBe("overloaded");
    expect(seen).toEqual(["a/m 1", "a/m 1", "a/m 1", "a/m 2"]);
  });

  it("returns to the key with the shortest rest if the last one rests for too long", async () => {
    const { runner, seen, slept } = stage(
      [
        { fail: "rate_limit", retryAfterMs: 2_000 },
        { fail: "rate_limit", retryAfterMs: 60_000 },
        { say: "hi" },
      ],
      { a: ["1", "2"] },
    );
    expect((await readTurn(runner.stream(model("a"), context))).error).toBeUndefined();
    expect(seen).toEqual(["a/m 1", "a/m 2", "a/m 1"]);
    expect(slept).toEqual([2_000]);
  });

  it("limits the attempts, however many keys there are", async () => {
    const keys = Array.from({ length: 100 }, (_, i) => `${i}`);
    const { runner, seen } = stage(
      keys.map((): Play => ({ fail: "auth" })),
      { a: keys },
    );
    expect((await readTurn(runner.stream(model("a"), context))).error?.attempts).toHaveLength(24);
    expect(seen).toHaveLength(24);
  });

  it("tries a key again within the hour, whatever the vendor asks for", async () => {
    const { runner } = stage([{ fail: "rate_limit", retryAfterMs: 1e12 }, { say: "hi" }], { a: ["1", "2"] });
    await readTurn(runner.stream(model("a"), context));
    expect(runner.keys()[0]?.restsUntil).toBe(3_600_000);
  });

  it("tries the fallback models, except those of an unreachable provider", async () => {
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

  it("does not retry a model that timed out", async () => {
    const { runner, seen } = stage([{ fail: "timeout" }, { say: "hi" }], { a: ["1"], b: ["2"] });
    const turn = await readTurn(runner.withFallbacks([model("b")])(model("a"), context));
    expect(kinds(turn.events)).toEqual(["timeout>model"]);
    expect(seen).toEqual(["a/m 1", "b/m 2"]);
  });

  it("starts with a model whose keys are not resting", async () => {
    const { runner, seen } = stage([{ fail: "billing" }, { say: "1" }, { say: "2" }], { a: ["1"], b: ["2"] });
    const stream = runner.withFallbacks([model("b")]);
    await readTurn(stream(model("a"), context));
    await readTurn(stream(model("a"), context));
    expect(seen).toEqual(["a/m 1", "b/m 2", "b/m 2"]);
  });

  it("uses a resting key if there is no other", async () => {
    const { runner, seen } = stage([{ fail: "billing" }, { say: "hi" }], { a: ["1"] });
    expect((await readTurn(runner.stream(model("a"), context))).error?.code).toBe("billing");
    expect((await readTurn(runner.stream(model("a"), context))).error).toBeUndefined();
    expect(seen).toHaveLength(2);
    expect(runner.keys()).toEqual([{ name: "a#1" }]);
  });

  it("does not retry after text was shown", async () => {
    const { runner, seen } = stage([{ fail: "overloaded", after: "so far" }, { say: "again" }], {
      a: ["1", "2"],
    });
    const turn = await readTurn(runner.withFallbacks([model("a", "n")])(model("a"), context));
    expect(turn.error).toMatchObject({ code: "overloaded", emitted: true });
    expect(turn.message.content).toEqual([{ type: "text", text: "so far" }]);
    expect(seen).toHaveLength(1);
  });

  it("discards half a call when it retries", async () => {
    const { runner } = stage([{ fail: "network", midCall: true }, { say: "hi" }], { a: ["1"] });
    const turn = await readTurn(runner.stream(model("a"), context));
    expect(turn.message.content).toEqual([{ type: "text", text: "hi" }]);
  });

  it("streams a call, and discards it if the attempt fails", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempt = 0;
    const pretend: Provider = {
      api: "pretend",
      connect: () => (asked, _context, how) =>
        modelTurn({ model: asked, options: how }, async function* (turn) {
          const gate = gates[attempt];
          const broken = attempt++ === 0;
          turn.start();
          const call = turn.open({ type: "toolCall", id: "c", name: "t" });
          turn.append(call, '{"a":');
          yield;
          await gate?.promise;
          if (broken) turn.fail(failure("network", "broken"));
          turn.append(call, "1}");
          turn.finish("tool_use");
          yield;
        }),
    };
    const { runner } = stage([], { a: ["1"] }, { providers: createProviders([pretend]) });
    const events: ModelEvent[] = [];
    for await (const event of runner.stream(model("a"), context)) {
      events.push(event);
      // The vendor continues only after the consumer has seen this event.
      if (event.type === "tool.delta") gates[attempt - 1]?.resolve();
    }
    expect(events.map((event) => event.type)).toEqual([
      "start",
      "block.start",
      "tool.delta",
      "block.end",
      "attempt",
      "start",
      "block.start",
      "tool.delta",
      "tool.delta",
      "block.end",
      "finish",
    ]);
    expect(events[4]).toMatchObject({ discard: true, failure: { code: "network" } });
    const turn = checkEvents(events);
    expect(turn.message.content).toMatchObject([{ type: "toolCall", args: { a: 1 } }]);
  });

  it("keeps the guarantees of a stream, whatever fails", async () => {
    const fail = fc.record({
      fail: fc.constantFrom("rate_limit", "overloaded", "network", "auth"),
      after: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      midCall: fc.option(fc.constant(true as const), { nil: undefined }),
    });
    const play: fc.Arbitrary<Play> = fc.oneof(
      fc.record({ say: fc.string() }),
      fail.map(({ fail, after, midCall }) => ({
        fail,
        ...(after === undefined ? {} : { after }),
        ...(midCall === undefined ? {} : { midCall }),
      })),
    );
    const shown = fc.constantFrom(undefined, true, false);
    await fc.assert(
      fc.asyncProperty(fc.array(play, { maxLength: 6 }), shown, async (plays, said) => {
        const { runner } = stage([...plays, { say: "at last" }], { a: ["1", "2"], b: ["3"] });
        const stream = runner.withFallbacks([model("b")]);
        await readTurn(stream(model("a"), context, said === undefined ? {} : { shown: () => said }));
      }),
      { numRuns: 200 },
    );
  });

  it("does not retry a request that cannot succeed", async () => {
    for (const code of ["overflow", "aborted"] as const) {
      const { runner, seen } = stage([{ fail: code }], { a: ["1"], b: ["2"] });
      const turn = await readTurn(runner.withFallbacks([model("b")])(model("a"), context));
      expect(turn.error?.code).toBe(code);
      expect(seen).toHaveLength(1);
    }
  });

  it("lists the failure of each attempt without naming keys", async () => {
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
    expect(turn.error?.message).toBe(
      "All 5 attempts failed. a/m (a#1): auth here; a/m (a#2): overloaded here (3 times); b/m (b#1): invalid here",
    );
    expect(JSON.stringify(turn.events)).not.toContain("secret");
  });

  it("reports a failed attempt before the delay, and stops waiting when aborted", async () => {
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
      if (event.type === "attempt") setImmediate(() => abort.abort());
    }
    expect(events.map((event) => event.type)).toEqual(["attempt", "start", "error"]);
    expect(events.at(-1)).toMatchObject({ error: { code: "aborted" }, partial: { stopReason: "aborted" } });
  });

  it("fails for an unknown account", async () => {
    const turn = await readTurn(stage([], {}).runner.stream(model("nobody"), context));
    expect(turn.error).toMatchObject({ code: "invalid", message: "No account is configured for nobody/m." });
    expect(() => stage([], { a: [] }, { accounts: [{ name: "x", api: "unspoken", keys: [] }] })).toThrow(
      /unspoken/,
    );
  });
});
