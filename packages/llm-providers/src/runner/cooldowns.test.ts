import type { ModelErrorCode } from "@signalbox/agent-core";
import { expect, it } from "vitest";
import { context, model, stage } from "../../test/support/stage.ts";
import { readTurn } from "../testkit/index.ts";
import type { RunnerOptions } from "./runner.ts";

interface Refusal {
  readonly fail: ModelErrorCode;
  readonly retryAfterMs?: number;
}

/**
 * Returns true if the first of two keys is used again this long after its refusal, when the second one is refused too.
 */
async function comesBack(
  refusal: Refusal,
  afterMs: number,
  cooldowns: RunnerOptions["cooldowns"] = {},
): Promise<boolean> {
  const { runner, seen, pass } = stage(
    [refusal, { say: "hi" }, { fail: "billing" }, { say: "hi" }],
    { a: ["1", "2"] },
    { cooldowns },
  );
  await readTurn(runner.stream(model("a"), context));
  pass(afterMs);
  await readTurn(runner.stream(model("a"), context));
  expect(seen.slice(0, 3)).toEqual(["a/m 1", "a/m 2", "a/m 2"]);
  return seen[3] === "a/m 1";
}

it.each<[Refusal, number]>([
  [{ fail: "billing" }, 3_600_000],
  [{ fail: "billing", retryAfterMs: 1_000 }, 3_600_000],
  [{ fail: "auth" }, 3_600_000],
  [{ fail: "auth", retryAfterMs: 1_000 }, 3_600_000],
  [{ fail: "rate_limit" }, 30_000],
  [{ fail: "rate_limit", retryAfterMs: 2_000 }, 2_000],
  [{ fail: "rate_limit", retryAfterMs: 90_000 }, 90_000],
  [{ fail: "rate_limit", retryAfterMs: 1e12 }, 3_600_000],
])("a key refused with %j rests for %i ms", async (refusal, restMs) => {
  expect(await comesBack(refusal, restMs - 1)).toBe(false);
  expect(await comesBack(refusal, restMs)).toBe(true);
});

it.each<[ModelErrorCode, number]>([
  ["billing", 200],
  ["auth", 300],
  ["rate_limit", 100],
])("a key refused with %s rests for the configured time", async (fail, restMs) => {
  const own = { rateLimitMs: 100, billingMs: 200, authMs: 300 };
  expect(await comesBack({ fail }, restMs - 1, own)).toBe(false);
  expect(await comesBack({ fail }, restMs, own)).toBe(true);
});
