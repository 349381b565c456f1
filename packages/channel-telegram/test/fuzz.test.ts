import { checkEvent } from "@signalbox/channel/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openBench, webhookSecret } from "./harness.ts";
import { recorded } from "./recorded.ts";

// Full run: FUZZ_RUNS=100000 pnpm --filter @signalbox/channel-telegram exec vitest run test/fuzz.test.ts
const numRuns = Number(process.env["FUZZ_RUNS"] ?? 1_000);
const seed = Number(process.env["FUZZ_SEED"] ?? 20261122);

const strange: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, "", "x", "\ud83d", "\r\n", "__proto__", [], {}, [[]], [null]),
  fc.constantFrom(1_767_225_599_123, "@signalbox_bot", "private", "channel", { id: 42 }, { id: 0 }, [
    { type: "code" },
  ]),
  fc.jsonValue({ maxDepth: 3 }),
);
const someName = fc.constantFrom(
  ...["message", "chat", "from", "sender_chat", "entities", "text", "caption", "photo", "document", "quote"],
  ...["rich_message", "blocks", "items", "cells", "credit", "expression", "button"],
  ...[
    "reply_to_message",
    "forward_origin",
    "message_thread_id",
    "update_id",
    "id",
    "type",
    "date",
    "__proto__",
  ],
);

/** A mutation of one place in a payload: its position and the new value. */
const change = fc.record({
  at: fc.nat(),
  how: fc.constantFrom("replace", "remove", "add", "cut"),
  name: someName,
  value: strange,
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Place = { readonly parent: Record<string, unknown>; readonly key: string };

function placesIn(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const parent: Record<string, unknown> = Object.assign(value);
  return Object.keys(value).flatMap((key) => [{ parent, key }, ...placesIn(parent[key])]);
}

function changed(payload: unknown, changes: readonly Change[]): unknown {
  const copy: unknown = structuredClone(payload);
  for (const { at, how, name, value } of changes) {
    const places = placesIn(copy);
    const place = places[at % Math.max(places.length, 1)];
    if (place === undefined) continue;
    const { parent, key } = place;
    const before = parent[key];
    if (how === "remove") delete parent[key];
    else if (how === "add") parent[name] = structuredClone(value);
    else if (how === "cut" && typeof before === "string")
      parent[key] = before.slice(0, at % (before.length + 1));
    else parent[key] = structuredClone(value);
  }
  return copy;
}

describe(`malformed updates (${numRuns}, seed ${seed})`, () => {
  it("are answered with 4xx or ignored, and the emitted events are valid", async () => {
    await using bench = await openBench({
      transport: "webhook",
      webhookSecret,
      webhookUrl: "https://gateway.example/u",
    });
    let through = 0;
    let current = "";
    bench.onEmit = async (event) => {
      through += 1;
      expect(checkEvent(event, { channel: "telegram", account: "main" }), current).toEqual([]);
      return "accepted";
    };
    const push = async (body: string) => {
      current = body;
      const headers = { "x-telegram-bot-api-secret-token": webhookSecret };
      const answer = await bench.channel.webhook?.(
        new Request("http://gateway/u", { method: "POST", headers, body }),
      );
      const status = answer?.status ?? 0;
      expect(status === 200 || (status >= 400 && status < 500), `${status} for ${body}`).toBe(true);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...recorded),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        async ({ payload }, changes) => push(JSON.stringify(changed(payload, changes))),
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
