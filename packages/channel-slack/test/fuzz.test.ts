import { isPayload, objectAt } from "@signalbox/channel";
import { checkEvent, createRandom, damage } from "@signalbox/channel/testkit";
import { signed } from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { type Bench, credentials, openBench } from "./harness.ts";
import { recorded } from "./recorded.ts";

// Full run: FUZZ_RUNS=100000 pnpm --filter @signalbox/channel-slack exec vitest run test/fuzz.test.ts
const runs = Number(process.env["FUZZ_RUNS"] ?? 1_000);
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 20_261_122);

const form = "application/x-www-form-urlencoded";

/** Encodes a payload like Slack would. */
function written(payload: unknown): readonly [body: string, type: string] {
  const { type, body } = isPayload(payload) ? payload : {};
  if (type === "interactive")
    return [new URLSearchParams({ payload: JSON.stringify(body) ?? "" }).toString(), form];
  if (type !== "slash_commands") return [JSON.stringify(body) ?? "", "application/json"];
  const fields = Object.entries(objectAt({ body }, "body"));
  return [new URLSearchParams(fields.map(([name, value]) => [name, JSON.stringify(value)])).toString(), form];
}

async function post({ channel }: Bench, body: string, type: string): Promise<number> {
  const request = signed(body, type, { signingSecret: credentials.signingSecret });
  const answer = await channel.webhook?.(new Request("http://gateway/events", request));
  return answer?.status ?? 0;
}

describe(`malformed events (${runs}, seed ${seed})`, () => {
  it("are answered with 4xx or ignored, and the emitted events are valid", async () => {
    const random = createRandom(seed);
    await using bench = await openBench({ transport: "webhook" });
    let through = 0;
    const wrong: unknown[] = [];
    bench.onEmit = async (event) => {
      through += 1;
      const problems = checkEvent(event, { channel: "slack", account: "main" });
      if (problems.length > 0) wrong.push([problems, event]);
      return "accepted";
    };
    for (let run = 0; run < runs; run += 1) {
      const { payload = null } = recorded[Math.floor(random() * recorded.length)] ?? {};
      const [body, type] = written(damage(payload, random));
      const cut = random() < 0.1 ? body.slice(0, Math.floor(random() * body.length)) : body;
      const status = await post(bench, cut, random() < 0.05 ? "text/plain" : type);
      if (status !== 200 && (status < 400 || status >= 500)) wrong.push([status, cut]);
    }
    expect(wrong).toEqual([]);
    expect(through).toBeGreaterThan(runs / 10);
  }, 3_600_000);
});
