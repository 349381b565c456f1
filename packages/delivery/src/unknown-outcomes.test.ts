import { ChannelError } from "@signalbox/channel";
import { expect, it } from "vitest";
import { DESTINATION, openDelivery, READBACK } from "../test/open-delivery.ts";
import { KEYED } from "../test/plain.ts";

it.each([
  ["by any process", READBACK],
  ["only by the process that sent it", { ...READBACK, delivery: { readback: "recent" } } as const],
])(
  "looks up a message with an unknown outcome before sending it again if it can be found %s",
  async (_, capabilities) => {
    let sends = 0;
    const looked: number[] = [];
    const { say, stateOf, clock } = await openDelivery(
      async () => {
        sends++;
        throw new ChannelError("unknown_outcome", "the connection broke");
      },
      {
        capabilities,
        async reconcile(part) {
          looked.push(part);
          if (looked.length === 1) throw new ChannelError("transient", "not now");
          return { outcome: "sent", messageId: "om_found" };
        },
      },
    );
    const id = await say("oc_a", "one");
    await clock.advance(500);
    expect([looked.length, await stateOf(id)]).toEqual([1, "sending"]);
    await clock.advance(1_000);
    expect(await stateOf(id)).toBe("sent");
    expect([sends, looked]).toEqual([1, [0, 0]]);
  },
);

it("repeats a message with an unknown outcome under its key instead of looking it up", async () => {
  const keys: string[] = [];
  const { say, stateOf, clock } = await openDelivery(
    async (_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      if (keys.length === 1) throw new ChannelError("unknown_outcome", "the connection broke");
      return ["om_2"];
    },
    { reconcile: async () => ({ outcome: "sent", messageId: "om_another" }) },
  );
  const id = await say("oc_a", "yes");
  await clock.advance(60_000);
  expect(await stateOf(id)).toBe("sent");
  expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
});

it.each([
  ["sends a message left by an earlier process again while its key is valid", 3_599_999, ["sent again"]],
  [
    "looks up a message left by an earlier process once its key has expired",
    3_600_000,
    ["looked up since the first try"],
  ],
] as const)("%s", async (_, downMs, expected) => {
  const done: string[] = [];
  let firstTry = 0;
  const { clock, delivery, outbox } = await openDelivery(
    async () => {
      done.push("sent again");
      return ["om_1"];
    },
    {
      left: "one",
      capabilities: { ...KEYED, delivery: { ...KEYED.delivery, readback: true } },
      async reconcile(_part, attemptedAt) {
        done.push(attemptedAt === firstTry ? "looked up since the first try" : "looked up since later");
        return { outcome: "sent", messageId: "om_1" };
      },
    },
  );
  firstTry = clock.now();
  await clock.advance(downMs);
  delivery.wake();
  await clock.advance(0);
  expect([(await outbox.list({ states: ["sent"] })).length, done]).toEqual([1, expected]);
});

it("sends a message again if the platform does not have it, and looks it up from the new send on", async () => {
  const sentAt: number[] = [];
  const lookedSince: number[] = [];
  const { say, stateOf, clock } = await openDelivery(
    async () => {
      sentAt.push(clock.now());
      throw new ChannelError("unknown_outcome", "the connection broke");
    },
    {
      capabilities: READBACK,
      async reconcile(_part, attemptedAt) {
        lookedSince.push(attemptedAt);
        return lookedSince.length === 1 ? { outcome: "not_sent" } : { outcome: "sent", messageId: "om_1" };
      },
    },
  );
  const id = await say("oc_a", "one");
  await clock.advance(60_000);
  expect([await stateOf(id), lookedSince]).toEqual(["sent", sentAt]);
  expect(new Set(sentAt).size).toBe(2);
});

it("looks up a part with an unknown outcome from the time it was tried", async () => {
  let firstOutAt = 0;
  const looked: number[] = [];
  const { say, stateOf, clock } = await openDelivery(
    async (_, { onPart }) => {
      await clock.delay(5_000);
      await onPart?.({ index: 0, messageId: "om_1" });
      firstOutAt = clock.now();
      throw new ChannelError("unknown_outcome", "the connection broke");
    },
    {
      capabilities: READBACK,
      async reconcile(part, attemptedAt) {
        looked.push(part, attemptedAt);
        return { outcome: "sent", messageId: "om_2" };
      },
    },
  );
  const id = await say("oc_a", "one", "two");
  await clock.advance(60_000);
  expect([await stateOf(id), looked]).toEqual(["sent", [1, firstOutAt]]);
});

it.each([
  ["the platform has no lookup", {}],
  ["the lookup is inconclusive", { readback: true }],
] as const)(
  "marks a message with an unknown outcome as uncertain and does not repeat it if %s",
  async (_, delivery) => {
    let sends = 0;
    const { say, stateOf, clock } = await openDelivery(
      async () => {
        sends++;
        throw new ChannelError("unknown_outcome", "the connection broke");
      },
      { capabilities: { ...KEYED, delivery }, reconcile: async () => ({ outcome: "unknown" }) },
    );
    const id = await say("oc_a", "one");
    await clock.advance(1_000);
    expect(await stateOf(id)).toBe("uncertain");
    expect(sends).toBe(1);
  },
);

it("continues after the parts that were found on the platform", async () => {
  const sent: (number | undefined)[] = [];
  const { say, stateOf, clock } = await openDelivery(
    async (_, { startAt }) => {
      sent.push(startAt);
      if (sent.length === 1) throw new ChannelError("unknown_outcome", "the connection broke");
      return ["om_2"];
    },
    { capabilities: READBACK, reconcile: async () => ({ outcome: "sent", messageId: "om_1" }) },
  );
  const id = await say("oc_a", "one", "two");
  await clock.advance(60_000);
  expect(await stateOf(id)).toBe("sent");
  expect(sent).toEqual([0, 1]);
});

it("looks up a message whose receipt could not be stored instead of sending it again", async () => {
  let sends = 0;
  const { say, stateOf, failOnce, clock } = await openDelivery(
    async () => {
      sends++;
      failOnce(new Error("broken"));
      return ["om_1"];
    },
    { capabilities: READBACK, reconcile: async () => ({ outcome: "sent", messageId: "om_1" }) },
  );
  const id = await say("oc_a", "one");
  await clock.advance(1_000);
  expect([await stateOf(id), sends]).toEqual(["sent", 1]);
});

it("repeats a notice of unknown outcome, because a missing one is worse than a repeated one", async () => {
  let sends = 0;
  const { stateOf, outbox, lease, delivery, clock } = await openDelivery(
    async () => {
      sends += 1;
      if (sends < 3) throw new ChannelError("unknown_outcome", "the connection broke");
      return ["om_1"];
    },
    { capabilities: { ...KEYED, delivery: {} } },
  );
  const payload = { parts: [{ type: "text" as const, text: "sorry" }], notice: true };
  const row = { ...DESTINATION, payload };
  const [notice] = await outbox.enqueue([row], { lease });
  delivery.wake();
  await clock.advance(10_000);
  expect([sends, await stateOf(notice?.id ?? "")]).toEqual([3, "sent"]);
});
