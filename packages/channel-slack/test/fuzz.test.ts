import { checkEvent } from "@signalbox/channel/testkit";
import { signed } from "@signalbox/testkit/slack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { credentials, openBench } from "./harness.ts";
import { recorded } from "./recorded.ts";

// The full count: FUZZ_RUNS=100000 pnpm --filter @signalbox/channel-slack exec vitest run test/fuzz.test.ts
const numRuns = Number(process.env["FUZZ_RUNS"] ?? 3000);
const seed = Number(process.env["FUZZ_SEED"] ?? 20261122);

const strange: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -1,
    1e308,
    "",
    "x",
    "<@U_BOT>",
    "\ud83d",
    "__proto__",
    "constructor",
    [],
    {},
    [[]],
    [null],
  ),
  fc.constantFrom(
    "1767225599.123456",
    "NaN",
    "im",
    "mpim",
    "message_changed",
    "<".repeat(500),
    "\u0000\u2028",
  ),
  fc.jsonValue({ maxDepth: 3 }),
);
const someName = fc.constantFrom(
  ...[
    "event",
    "type",
    "subtype",
    "channel",
    "channel_type",
    "user",
    "bot_id",
    "text",
    "ts",
    "thread_ts",
    "team",
  ],
  ...["blocks", "elements", "style", "files", "message", "previous_message", "edited", "item", "reaction"],
  ...[
    "actions",
    "container",
    "value",
    "action_id",
    "trigger_id",
    "command",
    "event_id",
    "event_ts",
    "__proto__",
  ],
);

/** A step that damages one place of a payload: which place, and what comes there. */
const damage = fc.record({
  at: fc.nat(),
  how: fc.constantFrom("replace", "remove", "add", "cut"),
  name: someName,
  value: strange,
});

interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

function places(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const parent = Object.assign(value);
  return Object.keys(value).flatMap((key) => [{ parent, key }, ...places(parent[key])]);
}

type Damage = typeof damage extends fc.Arbitrary<infer Step> ? Step : never;

function damaged(payload: unknown, steps: readonly Damage[]): unknown {
  const copy: unknown = structuredClone(payload);
  for (const { at, how, name, value } of steps) {
    const all = places(copy);
    const place = all[at % Math.max(all.length, 1)];
    if (place === undefined) continue;
    const { parent, key } = place;
    const before = parent[key];
    if (how === "remove") delete parent[key];
    else if (how === "add") parent[name] = value;
    else if (how === "cut" && typeof before === "string")
      parent[key] = before.slice(0, at % (before.length + 1));
    else parent[key] = value;
  }
  return copy;
}

/** As Slack would write it, whatever it is. */
function written(payload: unknown): readonly [body: string, type: string] {
  const { type, body } = Object.assign({ type: undefined, body: undefined }, payload);
  const form = "application/x-www-form-urlencoded";
  if (type === "interactive")
    return [new URLSearchParams({ payload: JSON.stringify(body) ?? "" }).toString(), form];
  if (type !== "slash_commands") return [JSON.stringify(body) ?? "", "application/json"];
  const fields = Object.entries(body ?? {}).map(([name, value]): [string, string] => [name, String(value)]);
  return [new URLSearchParams(fields).toString(), form];
}

describe(`malformed events (${numRuns}, seed ${seed})`, () => {
  it("are answered in the 400s or ignored, and what gets through is sound", async () => {
    await using bench = await openBench({ transport: "webhook" });
    let through = 0;
    let current = "";
    bench.answer = async (event) => {
      through += 1;
      expect(checkEvent(event, { channel: "slack", account: "main" }), current).toEqual([]);
      return "accepted";
    };
    const post = async (body: string, type: string) => {
      current = body;
      const request = signed(body, type, { signingSecret: credentials.signingSecret });
      const answer = await bench.channel.webhook?.(new Request("http://gateway/events", request));
      const status = answer?.status ?? 0;
      expect(status === 200 || (status >= 400 && status < 500), `${status} for ${body}`).toBe(true);
    };
    const steps = fc.array(damage, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...recorded), steps, async ({ payload }, given) =>
        post(...written(damaged(payload, given))),
      ),
      { numRuns, seed },
    );
    const anything = fc.oneof(fc.string(), fc.json(), fc.string({ unit: "binary" }));
    const type = fc.constantFrom("application/json", "application/x-www-form-urlencoded", "text/plain", "");
    await fc.assert(fc.asyncProperty(anything, type, post), { numRuns: Math.ceil(numRuns / 10), seed });
    expect(through).toBeGreaterThan(numRuns / 10);
  }, 3_600_000);
});
