import { ChannelError, type Outbound } from "@signalbox/channel";
import { expect, it, onTestFinished, vi } from "vitest";
import { full, type OpenDelivery, openDelivery, textOf } from "../test/open-delivery.ts";
import { createInboxId } from "../test/open-outbox.ts";
import { KEYED } from "../test/plain.ts";
import { createOutboxRow } from "./rows.ts";

it("sends the next message of a conversation as soon as a slow one was sent", async () => {
  const slow = Promise.withResolvers<void>();
  const sent: string[] = [];
  const { say, stateOf, clock } = await openDelivery(async (message) => {
    if (sent.length === 0) await slow.promise;
    sent.push(textOf(message));
    return ["om_1"];
  });
  const ids = [await say("oc_a", "one"), await say("oc_a", "two"), await say("oc_a", "three")];
  slow.resolve();
  await clock.advance(0);
  expect(await Promise.all(ids.map(stateOf))).toEqual(["sent", "sent", "sent"]);
  expect(sent).toEqual(["one", "two", "three"]);
});

it("resolves `ended` when a row has ended, also if it ended before", async () => {
  const slow = Promise.withResolvers<void>();
  const { say, stateOf, delivery, clock } = await openDelivery(async () => {
    await slow.promise;
    return ["om_1"];
  });
  const id = await say("oc_a", "one");
  const seen: (string | undefined)[] = [];
  void delivery.ended(id).then(async () => seen.push(await stateOf(id)));
  await clock.settle();
  expect(seen).toEqual([]);
  slow.resolve();
  await clock.advance(0);
  await clock.settle();
  expect(seen).toEqual(["sent"]);
  await delivery.ended(id);
  await delivery.ended("unknown");
});

it("stores a receipt for as long as the store fails, and sends the message once", async () => {
  let sends = 0;
  const { say, stateOf, fail, clock } = await openDelivery(async () => {
    sends++;
    fail(full);
    return ["om_1"];
  });
  const id = await say("oc_a", "one");
  await clock.advance(600_000);
  expect(await stateOf(id)).toBe("sending");
  fail(undefined);
  await clock.advance(300_000);
  expect([await stateOf(id), sends]).toEqual(["sent", 1]);
});

it("gives a part its full deadline, however long it took to store the previous receipt", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const tooLate: (boolean | undefined)[] = [];
  const { say, stateOf, fail, clock } = await openDelivery(async ({ parts }, { signal, onPart }) => {
    for (const index of parts.keys()) {
      tooLate.push(signal?.aborted);
      if (index === 0) fail(full);
      await onPart?.({ index, messageId: `om_${index}` });
    }
    return [];
  });
  const id = await say("oc_a", "one", "two");
  vi.advanceTimersByTime(90_000);
  fail(undefined);
  await clock.advance(90_000);
  expect([await stateOf(id), tooLate]).toEqual(["sent", [false, false]]);
});

it.each([
  ["it was rejected", new ChannelError("invalid", "no such thing"), "dead"],
  ["it is to be retried", new ChannelError("transient", "try later"), "sent"],
] as const)(
  "does not block the next message if the store fails once to record that %s",
  async (_, error, end) => {
    let tries = 0;
    const { say, stateOf, failOnce, clock } = await openDelivery(
      async () => {
        tries += 1;
        if (tries === 1) failOnce(new Error("broken"));
        if (tries === 1 || (tries === 2 && end === "dead")) throw error;
        return ["om_1"];
      },
      { capabilities: { ...KEYED, delivery: {} } },
    );
    const one = await say("oc_a", "one");
    const two = await say("oc_a", "two");
    await clock.advance(60_000);
    expect([await stateOf(one), await stateOf(two)]).toEqual([end, "sent"]);
  },
);

it.each([0, Number.NaN])(
  "uses its own backoff if a platform returns a delay of %d ms",
  async (retryAfterMs) => {
    let tries = 0;
    const { say, stateOf, clock } = await openDelivery(async () => {
      if (++tries < 3) throw new ChannelError("transient", "later", { retryAfterMs });
      return ["om_1"];
    });
    const id = await say("oc_a", "one");
    await clock.advance(100);
    expect(tries).toBe(1);
    await clock.advance(10_000);
    expect([tries, await stateOf(id)]).toEqual([3, "sent"]);
  },
);

it("retries a message with a short delay while another one has a long delay", async () => {
  const tries: string[] = [];
  const { say, stateOf, clock } = await openDelivery(async (message) => {
    tries.push(textOf(message));
    if (textOf(message) === "long") throw new ChannelError("auth", "refused");
    if (tries.filter((one) => one === "short").length === 1)
      throw new ChannelError("transient", "later", { retryAfterMs: 60 });
    return ["om_1"];
  });
  const short = await say("oc_a", "short");
  expect(tries).toEqual(["short"]);
  await say("oc_b", "long");
  await clock.advance(60);
  expect(await stateOf(short)).toBe("sent");
});

it("replaces an attachment that never uploads by a text and sends the rest", async () => {
  const out: string[] = [];
  let uploads = 0;
  const { say, stateOf, outbox, clock } = await openDelivery(async ({ parts }, { startAt = 0, onPart }) => {
    for (const [index, part] of parts.entries()) {
      if (index < startAt) continue;
      if (part.type === "media") {
        uploads++;
        const receipt = { parts: Array.from({ length: index }, (_, at) => ({ index: at, messageId: "om" })) };
        throw new ChannelError("transient", "broke off", { retryAfterMs: 1, receipt });
      }
      out.push(textOf({ parts: [part] }));
      await onPart?.({ index, messageId: `om_${index}` });
    }
    return [];
  });
  const ref = { blob: "0".repeat(64) };
  const media = {
    type: "media",
    kind: "file",
    name: "a.zip",
    mimeType: "application/zip",
    size: 1,
    ref,
  } as const;
  const ids = [await say("oc_a", "Here:", media, "That is all."), await say("oc_a", "next")];
  await clock.advance(60_000);
  expect(await Promise.all(ids.map(stateOf))).toEqual(["sent", "sent"]);
  const line = "[file: a.zip was not sent: the upload failed]";
  expect(out).toEqual(["Here:", line, "That is all.", "next"]);
  expect(uploads).toBe(5);
  expect((await outbox.list({ states: ["sent"] })).map(({ receipts }) => receipts.length)).toContain(3);
});

it("expires an old message without sending it", async () => {
  const sent: string[] = [];
  const { outbox, lease, clock, delivery, outcomes } = await openDelivery(async (message) => {
    sent.push(textOf(message));
    return ["om_1"];
  });
  const old = { channel: "plain", account: "main", address: "a", expiresAt: clock.now() + 1 };
  await outbox.enqueue([{ ...old, payload: { parts: [{ type: "text", text: "old" }] } }], { lease });
  await clock.advance(1);
  delivery.wake();
  await clock.advance(0);
  expect([sent, outcomes]).toEqual([[], ["expired"]]);
});

it("ends replies even if the language of their notices cannot be looked up", async () => {
  const getLanguage = () => Promise.reject(new Error("the session is damaged"));
  const { outbox, lease, say, stateOf, clock, delivery, outcomes } = await openDelivery(
    async (message) => {
      if (textOf(message) === "refused") throw new ChannelError("invalid", "no");
      return ["om_1"];
    },
    { getLanguage, outbox: { awaiting: async () => [createInboxId()] } },
  );
  const refused = await say("a", "refused");
  expect(await stateOf(refused)).toBe("dead");
  const old = { channel: "plain", account: "main", address: "b", expiresAt: clock.now() + 1 };
  await outbox.enqueue([{ ...old, payload: { parts: [{ type: "text", text: "old" }] } }], { lease });
  await clock.advance(1);
  delivery.wake();
  await clock.advance(0);
  expect(outcomes).toEqual(["dead", "sent", "expired", "sent"]);
});

it("waits for an account that is not running, and gives up if it is not configured", async () => {
  let running = false;
  const waiting = await openDelivery(async () => ["om_1"], { account: (it) => (running ? it : undefined) });
  const id = await waiting.say("a", "one");
  expect(await waiting.stateOf(id)).toBe("pending");
  running = true;
  await waiting.clock.advance(15_000);
  expect(await waiting.stateOf(id)).toBe("sent");
  const removed = await openDelivery(async () => [], { account: () => undefined, configured: false });
  expect(await removed.stateOf(await removed.say("a", "one"))).toBe("dead");
});

it("checks again every 15 seconds for a missing account, and reports each retry reason once", async () => {
  let asked = 0;
  const { say, outcomes, clock } = await openDelivery(
    async () => {
      throw new ChannelError("transient", "down");
    },
    {
      account(it) {
        asked++;
        return asked <= 10 ? undefined : it;
      },
    },
  );
  await say("a", "one");
  await clock.advance(9 * 15_000);
  expect([asked, outcomes]).toEqual([10, ["retry"]]);
  await clock.advance(60_000);
  expect(outcomes).toEqual(["retry", "retry"]);
});

it("leaves an aborted send as `sending` when it stops", async () => {
  const never = Promise.withResolvers<readonly string[]>();
  const { say, stateOf, delivery, clock } = await openDelivery((_, { signal }) => {
    signal.addEventListener("abort", () => never.reject(signal.reason));
    return never.promise;
  });
  const id = await say("a", "one");
  const stopped = delivery.stop(1_000);
  await clock.advance(1_000);
  await stopped;
  expect([await stateOf(id), delivery.inFlight()]).toEqual(["sending", 0]);
});

it("sends rows that were handed over right before it stops", async () => {
  const { outbox, lease, clock, delivery } = await openDelivery(async () => ["om_1"]);
  const payload: Outbound = { parts: [{ type: "text", text: "the last word" }] };
  const row = createOutboxRow({ channel: "plain", account: "main", address: "a" }, payload, {
    expiresAt: clock.now() + 60_000,
    claim: false,
  });
  const rows = await outbox.enqueue([row], { lease });
  delivery.deliver(rows);
  await delivery.stop(1_000);
  expect((await outbox.get(rows[0]?.id ?? ""))?.state).toBe("sent");
});

it("leaves a reply to the next start if the store cannot be used anymore", async () => {
  let isBroken = false;
  const opened: OpenDelivery = await openDelivery(
    async () => {
      isBroken = true;
      opened.fail(new Error("broken"));
      return ["om_1"];
    },
    {
      outbox: {
        get: (id) => (isBroken ? Promise.reject(new Error("broken")) : opened.store.outbox.get(id)),
      },
    },
  );
  const id = await opened.say("a", "one");
  await opened.clock.advance(10_000);
  expect(await opened.stateOf(id)).toBe("sending");
});
