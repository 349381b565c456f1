import { describe, expect, it } from "vitest";
import { run } from "../../test/run.ts";
import { assistant, MODEL, usage } from "../../test/scripted.ts";

const LARGE = { ...MODEL, maxOutputTokens: 64_000 };

describe("a limit on output tokens", () => {
  it("does not lower the maximum output while enough tokens are left", async () => {
    const asked = async (outputTokens: number, maxOutputTokens?: number) => {
      const streamOptions = maxOutputTokens === undefined ? {} : { maxOutputTokens };
      const done = await run(["ok"], { model: LARGE, limits: { outputTokens }, streamOptions });
      return done.asked[0]?.options.maxOutputTokens;
    };
    expect(await asked(100_000)).toBeUndefined();
    expect(await asked(30_000)).toBe(30_000);
    expect(await asked(100_000, 50_000)).toBe(50_000);
    expect(await asked(30_000, 50_000)).toBe(30_000);
  });

  it("subtracts used tokens from the maximum output", async () => {
    const cut = assistant("so", { stopReason: "max_tokens", usage: usage(10, 400) });
    const { asked } = await run([cut, "on"], { model: LARGE, limits: { outputTokens: 1_000 } });
    expect(asked.map(({ options }) => options.maxOutputTokens)).toEqual([1_000, 600]);
  });
});
