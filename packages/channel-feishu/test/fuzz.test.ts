import { checkEvent } from "@signalbox/channel/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openBench } from "./harness.ts";
import { recorded } from "./recorded.ts";

// The full count: FUZZ_RUNS=100000 pnpm --filter @signalbox/channel-feishu exec vitest run test/fuzz.test.ts
const numRuns = Number(process.env["FUZZ_RUNS"] ?? 1_000);
const seed = Number(process.env["FUZZ_SEED"] ?? 20261121);

const strange: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, "", "x", "@_user_1", "\ud83d", "__proto__", [], {}, [[]], [null]),
  fc.constantFrom(
    "1767225599123",
    "{}",
    '{"text":1}',
    '{"text":"@_user_1"}',
    '{"content":[[{"tag":"at"}]]}',
    "[".repeat(500),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);
const someName = fc.constantFrom(
  ...[
    "event",
    "header",
    "message",
    "sender",
    "content",
    "token",
    "encrypt",
    "schema",
    "type",
    "challenge",
    "mentions",
  ],
  ...[
    "message_type",
    "chat_type",
    "sender_id",
    "event_type",
    "event_id",
    "create_time",
    "uuid",
    "id",
    "key",
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

type Node = { readonly parent: Record<string, unknown>; readonly key: string };

function places(value: unknown, found: Node[] = []): Node[] {
  if (typeof value !== "object" || value === null) return found;
  const parent = Object.assign(value);
  for (const key of Object.keys(value)) {
    found.push({ parent, key });
    places(parent[key], found);
  }
  return found;
}

function damaged(
  payload: unknown,
  steps: readonly (typeof damage extends fc.Arbitrary<infer T> ? T : never)[],
): unknown {
  const copy: unknown = structuredClone(payload);
  for (const { at, how, name, value } of steps) {
    const all = places(copy);
    const place = all[at % Math.max(all.length, 1)];
    if (place === undefined) continue;
    const { parent, key } = place;
    const old = parent[key];
    if (how === "remove") delete parent[key];
    else if (how === "add") parent[name] = value;
    else if (how === "cut" && typeof old === "string") parent[key] = old.slice(0, at % (old.length + 1));
    else parent[key] = value;
  }
  return copy;
}

describe(`malformed events (${numRuns}, seed ${seed})`, () => {
  it("are answered in the 400s or ignored, and what gets through is sound", async () => {
    await using bench = await openBench({ verificationToken: "token-of-the-app" });
    let through = 0;
    let current = "";
    bench.onEmit = async (event) => {
      through += 1;
      expect(checkEvent(event, { channel: "feishu", account: "main" }), current).toEqual([]);
      return "accepted";
    };
    const push = async (body: string) => {
      current = body;
      const request = new Request("http://gateway/events", { method: "POST", body });
      const answer = await bench.channel.webhook?.(request);
      const status = answer?.status ?? 0;
      expect(status === 200 || (status >= 400 && status < 500), `${status} for ${body}`).toBe(true);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          ...recorded.filter((one) => !one.name.includes("reaction") && !one.name.includes("answer")),
        ),
        fc.array(damage, { minLength: 1, maxLength: 4 }),
        async ({ payload }, steps) => push(JSON.stringify(damaged(payload, steps))),
      ),
      { numRuns, seed },
    );
    await fc.assert(fc.asyncProperty(fc.oneof(fc.string(), fc.json(), fc.string({ unit: "binary" })), push), {
      numRuns: Math.ceil(numRuns / 10),
      seed,
    });
    expect(through).toBeGreaterThan(numRuns / 10);
  }, 3_600_000);
});
