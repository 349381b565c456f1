import { expect, it } from "vitest";
import { seeded } from "./random.ts";
import { runTakeover } from "./takeover.ts";

it("writes nothing more to runs once another process has taken its lease while it was stopped, and ends", {
  timeout: 600_000,
}, async () => {
  expect(await runTakeover({ random: seeded(5), sessions: 6, mode: "followup" })).toEqual([]);
});
