import type { Json } from "@signalbox/channel";
import { checkEvent, createRandom, damage } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
import { openBench } from "./harness.ts";
import { recorded } from "./recorded.ts";

// Full run: FUZZ_RUNS=100000 pnpm --filter @signalbox/channel-discord exec vitest run test/fuzz.test.ts
const runs = Number(process.env["FUZZ_RUNS"] ?? 1_000);
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_122);
/** Events in flight at once. */
const atOnce = 500;

describe(`malformed events (${runs}, seed ${seed})`, () => {
  it("are skipped, the emitted events are valid, and the next message arrives", async () => {
    const random = createRandom(seed);
    const payloads = recorded.map(({ payload }) => payload as { readonly t: string; readonly d: object });
    await using bench = await openBench({ discord: { keeps: atOnce } });
    let through = 0;
    const wrong: unknown[] = [];
    bench.onEmit = async (event) => {
      through += 1;
      const problems = checkEvent(event, { channel: "discord", account: "main" });
      if (problems.length > 0) wrong.push([problems, event]);
      return "accepted";
    };
    for (let run = 0; run < runs; run += 1) {
      const { t, d } = payloads[Math.floor(random() * payloads.length)] ?? { t: "", d: {} };
      const copy: Json = JSON.parse(JSON.stringify(d));
      const changed = damage(copy, random);
      const data =
        typeof changed === "object" && changed !== null && !Array.isArray(changed) ? { ...changed } : {};
      const sequence = bench.fakeServer.gateway.dispatch(t, data) ?? 0;
      if (run % atOnce === 0)
        expect(
          await bench.fakeServer.acknowledged(sequence),
          bench.logged.filter((l) => !l.includes("failed to respond")).join("\n"),
        ).toBe(true);
    }
    const sound = bench.fakeServer.say({ channelId: "7001", authorId: "2001", content: "still there?" });
    expect(await bench.fakeServer.acknowledged(sound.sequence ?? 0)).toBe(true);
    expect(wrong).toEqual([]);
    expect(through).toBeGreaterThan(runs / 10);
    expect(bench.fakeServer.gateway.resumes).toBe(0);
    expect(bench.channel.health()).toEqual({ state: "ready" });
  }, 3_600_000);
});
