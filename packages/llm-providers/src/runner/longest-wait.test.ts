import type { ModelErrorCode } from "@signalbox/agent-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { context, model, type Play, stage } from "../../test/support/stage.ts";
import { readTurn } from "../testkit/index.ts";

describe("a runner that waits for silent models", () => {
  it("reserves time for the other models, and tries none when it has run out", async () => {
    const stall: Play = { fail: "timeout", takes: "silenceMs" };
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

  it("uses the request's own limit of silence", async () => {
    const { runner, silences } = stage([{ fail: "timeout", takes: "silenceMs" }, { say: "hi" }], {
      a: ["1"],
      b: ["2"],
    });
    await readTurn(runner.withFallbacks([model("b")])(model("a"), context, { silenceMs: 25_000 }));
    expect(silences).toEqual([12_500, 12_500]);
  });

  it("leaves an account with its own timeouts to them", async () => {
    const plays: readonly Play[] = [{ fail: "timeout", takes: "silenceMs" }, { say: "hi" }];
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

  it("fails within a minute, however the models fail", async () => {
    const play = fc.record({
      fail: fc.constantFrom<ModelErrorCode>(
        "rate_limit",
        "overloaded",
        "network",
        "timeout",
        "auth",
        "invalid",
      ),
      takes: fc.oneof(fc.constant("silenceMs" as const), fc.integer({ min: 0, max: 5_000 })),
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
});
