import { checkEvent, createRandom, damage } from "@signalbox/channel/testkit";
import { signed } from "@signalbox/testkit/whatsapp";
import { describe, expect, it } from "vitest";
import { credentials, openBench } from "./harness.ts";
import { recorded } from "./recorded.ts";

// Full run: FUZZ_RUNS=100000 pnpm --filter @signalbox/channel-whatsapp exec vitest run test/fuzz.test.ts
const runs = Number(process.env["FUZZ_RUNS"] ?? 1_000);
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_129);

describe(`malformed events (${runs}, seed ${seed})`, () => {
  it("are answered with 4xx or ignored, and the emitted events are valid", async () => {
    const random = createRandom(seed);
    await using bench = await openBench();
    let through = 0;
    const wrong: unknown[] = [];
    bench.onEmit = async (event) => {
      through += 1;
      const problems = checkEvent(event, { channel: "whatsapp", account: "main" });
      if (problems.length > 0) wrong.push([problems, event]);
      return "accepted";
    };
    for (let run = 0; run < runs; run += 1) {
      const { payload = null } = recorded[Math.floor(random() * recorded.length)] ?? {};
      const damaged = damage(payload, random);
      const request = new Request("http://gateway/events", signed(damaged, credentials.appSecret));
      const status = (await bench.channel.webhook?.(request))?.status ?? 0;
      if (status !== 200 && (status < 400 || status >= 500)) wrong.push([status, damaged]);
    }
    expect(wrong).toEqual([]);
    expect(through).toBeGreaterThan(runs / 10);
  }, 3_600_000);
});
