import { checkEvent, createRandom, damage } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
import { readFrame } from "../src/connection/frames.ts";
import { toMessageEvent } from "../src/inbound/message.ts";
import { isMessage } from "../src/inbound/webhook.ts";
import { recorded } from "./recorded.ts";

// Full run: FUZZ_RUNS=100000 pnpm --filter @signalbox/channel-wecom exec vitest run test/fuzz.test.ts
const runs = Number(process.env["FUZZ_RUNS"] ?? 1_000);
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_129);

describe(`malformed messages (${runs}, seed ${seed})`, () => {
  it("are skipped, and the emitted events are valid", () => {
    const random = createRandom(seed);
    const facts = { account: "main", botId: "aib-bot", now: Date.now(), raw: true };
    let through = 0;
    const wrong: unknown[] = [];
    for (let run = 0; run < runs; run += 1) {
      const { payload = null } = recorded[Math.floor(random() * recorded.length)] ?? {};
      const sent = { cmd: "aibot_msg_callback", headers: { req_id: `req-${run}` }, body: payload };
      const frame = readFrame(JSON.stringify(damage(sent, random)));
      if (frame === undefined) continue;
      isMessage(frame.body);
      const event = toMessageEvent({ body: frame.body, reqId: frame.reqId }, facts);
      if (event === undefined) continue;
      through += 1;
      const problems = checkEvent(event, { channel: "wecom", account: "main" });
      if (problems.length > 0) wrong.push([problems, event]);
    }
    expect(wrong).toEqual([]);
    expect(through).toBeGreaterThan(runs / 4);
  }, 3_600_000);
});
