import { ChannelError } from "@signalbox/channel";
import { expect, it } from "vitest";
import { openDelivery, textOf } from "../test/open-delivery.ts";
import { KEYED } from "../test/plain.ts";

it("enforces the rate limit for every part after the platform rejected a request", async () => {
  let complaints = 1;
  const at: number[] = [];
  const { say, stateOf, clock } = await openDelivery(
    async ({ parts }, { onPart }) => {
      if (complaints-- > 0) throw new ChannelError("rate_limited", "too many", { retryAfterMs: 1 });
      for (const index of parts.keys()) {
        at.push(clock.now());
        await onPart?.({ index, messageId: `om_${index}` });
      }
      return parts.map((_, index) => `om_${index}`);
    },
    { capabilities: { ...KEYED, rate: [{ scope: "conversation", perSecond: 20, burst: 1 }] } },
  );
  const id = await say("oc_a", "one", "two", "three");
  await clock.advance(1_000);
  expect(await stateOf(id)).toBe("sent");
  const [first = 0, , third = 0] = at;
  // 20 a second.
  expect(third - first).toBe(100);
});

it("keeps messages that wait for the rate limit in the outbox, so that a crash does not make them doubtful", async () => {
  let complaints = 1;
  const sent: string[] = [];
  const { say, outbox, stateOf, clock } = await openDelivery(
    async (message) => {
      if (complaints-- > 0) throw new ChannelError("rate_limited", "too many", { retryAfterMs: 1 });
      sent.push(textOf(message));
      return ["om_1"];
    },
    { capabilities: { ...KEYED, delivery: {}, rate: [{ scope: "account", perSecond: 1, burst: 1 }] } },
  );
  const ids = [await say("oc_a", "one"), await say("oc_b", "two"), await say("oc_c", "three")];
  expect(await Promise.all(ids.map(stateOf))).toEqual(["pending", "pending", "pending"]);
  expect((await outbox.get(ids[2] ?? ""))?.error).toBe("waits for the rate limit of the platform");
  await clock.advance(4_000);
  expect(await Promise.all(ids.map(stateOf))).toEqual(["sent", "sent", "sent"]);
  expect(sent.sort()).toEqual(["one", "three", "two"]);
});
