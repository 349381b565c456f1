import {
  type Capabilities,
  ChannelError,
  type Outbound,
  type OutboundPart,
  type ReconcileResult,
  type SendOptions,
} from "@signalbox/channel";
import { expect, it, onTestFinished, vi } from "vitest";
import { createInboxId, type OpenOutbox, openOutbox } from "../test/open-outbox.ts";
import { KEYED, plainAccount, silentLogger } from "../test/plain.ts";
import type { DeliveryAccount } from "./account.ts";
import { createDelivery, type Delivery, type DeliveryOptions } from "./delivery.ts";
import type { GetLanguage } from "./row-phrases.ts";
import { createOutboxRow } from "./rows.ts";

type Send = (message: Outbound, options: SendOptions) => Promise<readonly string[]>;

interface Setup extends OpenOutbox {
  readonly delivery: Delivery;
  /** The reported outcomes, in order. */
  readonly outcomes: string[];
  /** Adds a message with these parts to the outbox, hands it over, and returns the id of its row. */
  say(address: string, ...parts: (string | OutboundPart)[]): Promise<string>;
  stateOf(id: string): Promise<string | undefined>;
}

/** A platform without idempotency keys: a doubtful message is looked up by its content. */
const READBACK: Capabilities = { ...KEYED, delivery: { readback: true } };
const DESTINATION = { channel: "plain", account: "main", address: "oc_a" };
const full = new Error("the disk is full");

async function setup(
  send: Send,
  extra: {
    readonly capabilities?: Capabilities;
    readonly reconcile?: (part: number, attemptedAt: number) => Promise<ReconcileResult>;
    readonly account?: (running: DeliveryAccount) => DeliveryAccount | undefined;
    readonly configured?: boolean;
    readonly getLanguage?: GetLanguage;
    readonly outbox?: Partial<DeliveryOptions["outbox"]>;
    /** The text of a row that an earlier process was sending to {@link DESTINATION} when it was killed. */
    readonly left?: string;
    /** Returns the remaining duration of the lease in milliseconds. */
    readonly getLeaseMs?: () => number;
    readonly unableToSend?: NonNullable<DeliveryOptions["unableToSend"]>;
  } = {},
): Promise<Setup> {
  const opened = await openOutbox();
  const { outbox, clock, takeOver } = opened;
  if (extra.left !== undefined) {
    const payload: Outbound = { parts: [{ type: "text", text: extra.left }] };
    const row = createOutboxRow(DESTINATION, payload, { expiresAt: clock.now() + 86_400_000, claim: true });
    await outbox.enqueue([row], { lease: opened.lease });
  }
  const lease = await takeOver();
  const { reconcile } = extra;
  const running = plainAccount(
    {
      async send(_to, message, options) {
        const ids = await send(message, options);
        return { parts: ids.map((messageId, at) => ({ index: (options.startAt ?? 0) + at, messageId })) };
      },
      ...(reconcile && { reconcile: ({ part, attemptedAt }) => reconcile(part, attemptedAt) }),
    },
    { capabilities: extra.capabilities ?? KEYED },
  );
  const outcomes: string[] = [];
  const delivery = createDelivery({
    outbox: overriding(outbox, extra.outbox ?? {}),
    lease,
    clock,
    ...(extra.getLeaseMs && { getLeaseMs: extra.getLeaseMs }),
    ...(extra.unableToSend && { unableToSend: extra.unableToSend }),
    logger: silentLogger,
    configured: () => extra.configured ?? true,
    account: () => (extra.account === undefined ? running : extra.account(running)),
    isRetryable: (error) => error === full,
    random: () => 0,
    getLanguage: extra.getLanguage,
    onOutcome: (_row, outcome) => outcomes.push(outcome),
  });
  onTestFinished(() => delivery.stop(0));
  return {
    ...opened,
    lease,
    delivery,
    outcomes,
    async say(address, ...parts) {
      const payload: Outbound = {
        parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
      };
      const destination = { ...DESTINATION, address };
      const row = createOutboxRow(destination, payload, { expiresAt: clock.now() + 3_000_000, claim: true });
      const [added] = await outbox.enqueue([row], { lease });
      if (!added) throw new Error("The outbox returned no row.");
      delivery.deliver([added]);
      await clock.settle();
      return added.id;
    },
    stateOf: async (id) => (await outbox.get(id))?.state,
  };
}

/** The outbox with some of its methods replaced. */
function overriding<Part extends object>(part: Part, methods: Partial<Part>): Part {
  return new Proxy(part, { get: (target, name) => Reflect.get(methods, name) ?? Reflect.get(target, name) });
}

const textOf = ({ parts }: Outbound): string =>
  parts.map((part) => ("text" in part ? part.text : part.type)).join("|");

it("sends the next message of a conversation as soon as a slow one was sent", async () => {
  const slow = Promise.withResolvers<void>();
  const sent: string[] = [];
  const { say, stateOf, clock } = await setup(async (message) => {
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
  const { say, stateOf, delivery, clock } = await setup(async () => {
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

it("enforces the rate limit for every part after the platform rejected a request", async () => {
  let complaints = 1;
  const at: number[] = [];
  const { say, stateOf, clock } = await setup(
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
  const { say, outbox, stateOf, clock } = await setup(
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

it.each([
  ["by any process", READBACK],
  ["only by the process that sent it", { ...READBACK, delivery: { readback: "recent" } } as const],
])(
  "looks up a message with an unknown outcome before sending it again if it can be found %s",
  async (_, capabilities) => {
    let sends = 0;
    const looked: number[] = [];
    const { say, stateOf, clock } = await setup(
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
  const { say, stateOf, clock } = await setup(
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
  const { clock, delivery, outbox } = await setup(
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
  const { say, stateOf, clock } = await setup(
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
  const { say, stateOf, clock } = await setup(
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
    const { say, stateOf, clock } = await setup(
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
  const { say, stateOf, clock } = await setup(
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

it("stores a receipt for as long as the store fails, and sends the message once", async () => {
  let sends = 0;
  const { say, stateOf, fail, clock } = await setup(async () => {
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
  const { say, stateOf, fail, clock } = await setup(async ({ parts }, { signal, onPart }) => {
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

it("looks up a message whose receipt could not be stored instead of sending it again", async () => {
  let sends = 0;
  const { say, stateOf, failOnce, clock } = await setup(
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

it.each([
  ["it was rejected", new ChannelError("invalid", "no such thing"), "dead"],
  ["it is to be retried", new ChannelError("transient", "try later"), "sent"],
] as const)(
  "does not block the next message if the store fails once to record that %s",
  async (_, error, end) => {
    let tries = 0;
    const { say, stateOf, failOnce, clock } = await setup(
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
    const { say, stateOf, clock } = await setup(async () => {
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
  const { say, stateOf, clock } = await setup(async (message) => {
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
  const { say, stateOf, outbox, clock } = await setup(async ({ parts }, { startAt = 0, onPart }) => {
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
  const { outbox, lease, clock, delivery, outcomes } = await setup(async (message) => {
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
  const { outbox, lease, say, stateOf, clock, delivery, outcomes } = await setup(
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
  const waiting = await setup(async () => ["om_1"], { account: (it) => (running ? it : undefined) });
  const id = await waiting.say("a", "one");
  expect(await waiting.stateOf(id)).toBe("pending");
  running = true;
  await waiting.clock.advance(15_000);
  expect(await waiting.stateOf(id)).toBe("sent");
  const removed = await setup(async () => [], { account: () => undefined, configured: false });
  expect(await removed.stateOf(await removed.say("a", "one"))).toBe("dead");
});

it("checks again every 15 seconds for a missing account, and reports each retry reason once", async () => {
  let asked = 0;
  const { say, outcomes, clock } = await setup(
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
  const { say, stateOf, delivery, clock } = await setup((_, { signal }) => {
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
  const { outbox, lease, clock, delivery } = await setup(async () => ["om_1"]);
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
  const opened: Setup = await setup(
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

it("repeats a notice of unknown outcome, because a missing one is worse than a repeated one", async () => {
  let sends = 0;
  const { stateOf, outbox, lease, delivery, clock } = await setup(
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

it("sends nothing while its lease is expired, and sends it after the renewal", async () => {
  let leaseMs = 500;
  let sends = 0;
  const { say, stateOf, clock } = await setup(
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
  const opened = await setup(
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
  const opened = await setup(
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

it("leaves rows of an account that only another gateway can send in the outbox", async () => {
  let sends = 0;
  let isUnable = true;
  const { delivery, say, stateOf, outbox, clock } = await setup(
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
