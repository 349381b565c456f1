import { expect, it } from "vitest";
import { seeded } from "./random.ts";
import { runTakeover } from "./takeover.ts";

it("stops writing and exits after another process took over its lease", {
  timeout: 600_000,
}, async () => {
  expect(await runTakeover({ random: seeded(5), sessions: 6, mode: "followup" })).toEqual([]);
});
