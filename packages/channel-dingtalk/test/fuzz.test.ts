import { type EmitResult, type InboundEvent, systemClock } from "@signalbox/channel";
import { checkEvent } from "@signalbox/channel/testkit";
import { buttonClick, CARD_TOPIC, ROBOT_TOPIC } from "@signalbox/testkit/dingtalk";
import fc from "fast-check";
import { expect, it } from "vitest";
import { addressCodec } from "../src/address.ts";
import { createReceiver } from "../src/inbound/receive.ts";
import { recorded } from "./recorded.ts";

// Full run: FUZZ_RUNS=100000 pnpm --filter @signalbox/channel-dingtalk exec vitest run test/fuzz.test.ts
const numRuns = Number(process.env["FUZZ_RUNS"] ?? 2_000);
const seed = Number(process.env["FUZZ_SEED"] ?? 20261129);

const samples: readonly unknown[] = [
  ...recorded.map(({ payload }) => payload),
  buttonClick("card", "signalbox.e30"),
];
const strange: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1e308,
    "",
    "x",
    "\ud83d",
    "\r\n",
    "__proto__",
    [],
    {},
    [[]],
    [null],
  ),
  fc.constantFrom<unknown>("1", "2", "text", "richText", "chatRecord", "$:LWCP_v1:$bot", {
    isReplyMsg: true,
  }),
  fc.jsonValue({ maxDepth: 3 }),
);

interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const parent: Record<string, unknown> = Object.assign(value);
  return Object.keys(value).flatMap((key) => [{ parent, key }, ...placesIn(parent[key])]);
}

it("acknowledges damaged events, and emits only valid ones", async () => {
  const emitted: InboundEvent[] = [];
  const context = {
    account: "main",
    clock: systemClock,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    async emit(event: InboundEvent): Promise<EmitResult> {
      emitted.push(event);
      return "accepted";
    },
  };
  const take = createReceiver(context, "dingbot");
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...samples),
      fc.array(fc.record({ at: fc.nat(), value: strange, isRemoved: fc.boolean() }), { maxLength: 4 }),
      fc.constantFrom(ROBOT_TOPIC, CARD_TOPIC),
      async (sample, changes, topic) => {
        const copy: unknown = structuredClone(sample);
        for (const { at, value, isRemoved } of changes) {
          const places = placesIn(copy);
          const place = places[at % Math.max(places.length, 1)];
          if (place === undefined) continue;
          if (isRemoved) delete place.parent[place.key];
          else place.parent[place.key] = structuredClone(value);
        }
        emitted.length = 0;
        const frame = { type: "CALLBACK", topic, messageId: "f", data: JSON.stringify(copy) };
        expect(await take(frame)).toBe(true);
        for (const event of emitted) {
          expect(checkEvent(event, { channel: "dingtalk", account: "main" })).toEqual([]);
          expect(addressCodec.encode(addressCodec.decode(event.address))).toBe(event.address);
        }
      },
    ),
    { numRuns, seed },
  );
});
