import { ChannelError } from "@signalbox/channel";
import { expect, it } from "vitest";
import { DESTINATION, full, openDelivery, READBACK } from "../test/open-delivery.ts";

it("sends nothing while its lease is expired, and sends it after the renewal", async () => {
  let leaseMs = 500;
  let sends = 0;
  const { say, stateOf, clock } = await openDelivery(
    async () => {
      sends += 1;
      return ["om_1"];
    },
    { getLeaseMs: () => leaseMs },
  );
  const id = await say("oc_a", "one");
  await clock.advance(10_000);
  expect([sends, await stateOf(id)]).toEqual([0, "pending"]);
  leaseMs = 5_000;
  await clock.advance(1_000);
  expect([sends, await stateOf(id)]).toEqual([1, "sent"]);
});

it("aborts a request 500 ms before the lease ends, and does not repeat it if another gateway took the row", async () => {
  let endsAt = Number.POSITIVE_INFINITY;
  const abortedAt: number[] = [];
  let sends = 0;
  const opened = await openDelivery(
    (_message, { signal }) => {
      sends += 1;
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          abortedAt.push(opened.clock.now());
          reject(new ChannelError("unknown_outcome", "the request was aborted"));
        });
      });
    },
    { getLeaseMs: () => endsAt - opened.clock.now() },
  );
  const { say, stateOf, clock, outbox, store } = opened;
  const begin = clock.now();
  endsAt = begin + 5_000;
  const id = await say("oc_a", "one");
  await clock.advance(2_000);
  // A renewal postpones the end.
  endsAt = begin + 7_000;
  await clock.advance(8_000);
  expect(abortedAt).toEqual([begin + 6_500]);
  expect(await stateOf(id)).toBe("sending");
  await store.leases.renew([opened.lease], 0);
  const other = await store.leases.acquire("other gateway", "other", 1e12);
  if (other === undefined) throw new Error("The lease of the other gateway is taken.");
  const { rows } = await outbox.claimDue({ lease: other, limit: 1 });
  expect(rows).toMatchObject([{ id, doubtful: true }]);
  endsAt = Number.POSITIVE_INFINITY;
  await clock.advance(600_000);
  expect([sends, await stateOf(id)]).toEqual([1, "sending"]);
});

it("looks up a message whose request was aborted at the end of the lease, once the lease is renewed", async () => {
  let endsAt = Number.POSITIVE_INFINITY;
  let sends = 0;
  let lookups = 0;
  const opened = await openDelivery(
    (_message, { signal }) => {
      sends += 1;
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () =>
          reject(new ChannelError("unknown_outcome", "the request was aborted")),
        );
      });
    },
    {
      capabilities: READBACK,
      async reconcile() {
        lookups += 1;
        return { outcome: "sent", messageId: "om_1" };
      },
      getLeaseMs: () => endsAt - opened.clock.now(),
    },
  );
  const { say, stateOf, clock } = opened;
  endsAt = clock.now() + 5_000;
  const id = await say("oc_a", "one");
  await clock.advance(60_000);
  expect([sends, lookups, await stateOf(id)]).toEqual([1, 0, "sending"]);
  endsAt = Number.POSITIVE_INFINITY;
  await clock.advance(1_000);
  expect([sends, lookups, await stateOf(id)]).toEqual([1, 1, "sent"]);
});

it("resolves an unknown outcome after the store was away, even if the row could not be read meanwhile", async () => {
  let isAway = false;
  let lookups = 0;
  const opened = await openDelivery(
    async () => {
      isAway = true;
      throw new ChannelError("unknown_outcome", "no response");
    },
    {
      capabilities: READBACK,
      async reconcile() {
        lookups += 1;
        return { outcome: "sent", messageId: "om_1" };
      },
      outbox: {
        async get(id) {
          if (isAway) throw full;
          return opened.outbox.get(id);
        },
      },
    },
  );
  const id = await opened.say("oc_a", "one");
  await opened.clock.advance(60_000);
  expect([lookups, await opened.stateOf(id)]).toEqual([0, "sending"]);
  isAway = false;
  await opened.clock.advance(60_000);
  expect([lookups, await opened.stateOf(id)]).toEqual([1, "sent"]);
});

it("leaves rows of an account that only another gateway can send in the outbox", async () => {
  let sends = 0;
  let isUnable = true;
  const { delivery, say, stateOf, outbox, clock } = await openDelivery(
    async () => {
      sends += 1;
      return ["om_1"];
    },
    { unableToSend: () => (isUnable ? [DESTINATION] : []), left: "doubtful" },
  );
  const { id: left } = (await outbox.list({ states: ["sending"] }))[0] ?? { id: "" };
  delivery.wake();
  const id = await say("oc_b", "one");
  await clock.advance(60_000);
  expect([sends, await stateOf(left), await stateOf(id)]).toEqual([0, "sending", "pending"]);
  isUnable = false;
  delivery.wake();
  await clock.settle();
  expect([sends, await stateOf(left), await stateOf(id)]).toEqual([2, "sent", "sent"]);
});

it("hands a doubtful row over when another gateway takes the connection of its account", async () => {
  let isUnable = false;
  let sends = 0;
  const { say, stateOf, outbox, store, clock } = await openDelivery(
    async () => {
      sends += 1;
      // The connection breaks during the request, and this gateway does not get it back.
      isUnable = true;
      throw new ChannelError("unknown_outcome", "the connection was lost");
    },
    {
      capabilities: READBACK,
      unableToSend: () => (isUnable ? [DESTINATION] : []),
      async reconcile() {
        throw new Error("this gateway has no connection");
      },
    },
  );
  const id = await say("oc_a", "one");
  const other = await store.leases.acquire("other gateway", "other", 1e12);
  if (other === undefined) throw new Error("The lease of the other gateway is taken.");
  await clock.advance(60_000);
  const { rows } = await outbox.claimDue({ lease: other, limit: 1 });
  expect(rows).toMatchObject([{ id, doubtful: true }]);
  for (const row of rows) await outbox.markSent(row.id, other);
  await clock.advance(600_000);
  expect([sends, await stateOf(id)]).toEqual([1, "sent"]);
});
