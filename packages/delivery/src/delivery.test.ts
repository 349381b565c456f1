import {
  type Capabilities,
  ChannelError,
  type Outbound,
  type OutboundPart,
  type ReconcileResult,
  type SendOptions,
} from "@signalbox/channel";
import { expect, it, onTestFinished, vi } from "vitest";
import { type ManualClock, manualClock, settled } from "../test/manual-clock.ts";
import { KEYED, plainAccount, silentLogger } from "../test/plain.ts";
import type { DeliveryAccount } from "./account.ts";
import { createDelivery, type Delivery } from "./delivery.ts";
import { outboxRow } from "./rows.ts";
import { createMemoryOutbox, type MemoryOutbox } from "./testkit/memory-outbox.ts";
import type { LanguageOf } from "./words.ts";

type Send = (message: Outbound, options: SendOptions) => Promise<readonly string[]>;

interface Setup {
  readonly outbox: MemoryOutbox;
  readonly clock: ManualClock;
  readonly delivery: Delivery;
  /** What became of rows, in order. */
  readonly settledAs: string[];
  /** Puts a text of these parts into the outbox and has it delivered. */
  say(address: string, ...parts: (string | OutboundPart)[]): Promise<string>;
  stateOf(id: string): Promise<string | undefined>;
}

/** As where the platform has no key: a message is looked for by what it says. */
const READBACK: Capabilities = { ...KEYED, delivery: { readback: true } };
const lease = { name: "gateway", epoch: 1 };
const full = new Error("the disk is full");

function setup(
  send: Send,
  extra: {
    readonly capabilities?: Capabilities;
    readonly reconcile?: (part: number, attemptedAt: number) => Promise<ReconcileResult>;
    readonly account?: (running: DeliveryAccount) => DeliveryAccount | undefined;
    readonly configured?: boolean;
    readonly languageOf?: LanguageOf;
  } = {},
): Setup {
  const clock = manualClock();
  const outbox = createMemoryOutbox(clock);
  const { reconcile } = extra;
  const running = plainAccount(
    {
      async send(_to, message, options) {
        const ids = await send(message, options);
        return { parts: ids.map((messageId, at) => ({ index: (options.startAt ?? 0) + at, messageId })) };
      },
      ...(reconcile === undefined
        ? {}
        : { reconcile: ({ part, attemptedAt }) => reconcile(part, attemptedAt) }),
    },
    { capabilities: extra.capabilities ?? KEYED },
  );
  const settledAs: string[] = [];
  const delivery = createDelivery({
    outbox,
    lease,
    clock,
    logger: silentLogger,
    configured: () => extra.configured ?? true,
    account: () => (extra.account === undefined ? running : extra.account(running)),
    openMedia: () => Promise.reject(new Error("nothing is attached here")),
    isPassing: (error) => error === full,
    random: () => 0,
    ...(extra.languageOf === undefined ? {} : { languageOf: extra.languageOf }),
    onSettled: (_row, state) => settledAs.push(state),
  });
  onTestFinished(() => delivery.stop(0));
  return {
    outbox,
    clock,
    delivery,
    settledAs,
    async say(address, ...parts) {
      const payload: Outbound = {
        parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
      };
      const destination = { channel: "plain", account: "main", address };
      const row = outboxRow(destination, payload, { expiresAt: clock.now() + 3_000_000, claim: true });
      const [added] = await outbox.enqueue([row], { lease });
      if (!added) throw new Error("no row");
      delivery.deliver([added]);
      await settled();
      return added.id;
    },
    stateOf: async (id) => (await outbox.get(id))?.state,
  };
}

const textOf = ({ parts }: Outbound): string =>
  parts.map((part) => ("text" in part ? part.text : part.type)).join("|");

it("sends what waits behind a slow message of its conversation as soon as that is out", async () => {
  const slow = Promise.withResolvers<void>();
  const sent: string[] = [];
  const { say, stateOf, clock } = setup(async (message) => {
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

it("tells whoever waits that a row has its end, also where it had it before", async () => {
  const slow = Promise.withResolvers<void>();
  const { say, stateOf, delivery, clock } = setup(async () => {
    await slow.promise;
    return ["om_1"];
  });
  const id = await say("oc_a", "one");
  const seen: (string | undefined)[] = [];
  void delivery.ended(id).then(async () => seen.push(await stateOf(id)));
  await settled();
  expect(seen).toEqual([]);
  slow.resolve();
  await clock.advance(0);
  await settled();
  expect(seen).toEqual(["sent"]);
  await delivery.ended(id);
  await delivery.ended("of no row");
});

it("keeps to the rate of a platform that has complained for every part, as each is a request", async () => {
  let complaints = 1;
  const at: number[] = [];
  const { say, stateOf, clock } = setup(
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

it("looks for a message of unknown outcome before it sends it again, and never gives it back as unsent", async () => {
  let sends = 0;
  const looked: number[] = [];
  const { say, stateOf, clock } = setup(
    async () => {
      sends++;
      throw new ChannelError("unknown_outcome", "the connection broke");
    },
    {
      capabilities: READBACK,
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
});

it("repeats a message of unknown outcome under its key where the platform has one, whatever reads like it", async () => {
  const keys: string[] = [];
  const { say, stateOf, clock } = setup(
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
  ["while the platform knows its key, sends again", 3_599_999, ["sent again"]],
  ["once the platform has forgotten its key, looks up", 3_600_000, ["looked up since the first try"]],
] as const)("%s what a process left that ended meanwhile", async (_, downMs, expected) => {
  const done: string[] = [];
  let firstTry = 0;
  const { outbox, clock, delivery, stateOf } = setup(
    async () => {
      done.push("sent again");
      return ["om_1"];
    },
    {
      capabilities: { ...KEYED, delivery: { ...KEYED.delivery, readback: true } },
      async reconcile(_part, attemptedAt) {
        done.push(attemptedAt === firstTry ? "looked up since the first try" : "looked up since later");
        return { outcome: "sent", messageId: "om_1" };
      },
    },
  );
  const payload: Outbound = { parts: [{ type: "text", text: "one" }] };
  const destination = { channel: "plain", account: "main", address: "oc_a" };
  const row = outboxRow(destination, payload, { expiresAt: clock.now() + 86_400_000, claim: true });
  const earlier = { ...lease, epoch: lease.epoch - 1 };
  const [left] = await outbox.enqueue([row], { lease: earlier });
  firstTry = clock.now();
  outbox.take(lease);
  await clock.advance(downMs);
  delivery.wake();
  await clock.advance(0);
  expect([await stateOf(left?.id ?? ""), done]).toEqual(["sent", expected]);
});

it("sends anew what the platform certainly has not got, and looks for that since it was sent anew", async () => {
  const sentAt: number[] = [];
  const lookedSince: number[] = [];
  const { say, stateOf, clock } = setup(
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

it("looks for the part whose outcome is unknown since that one was tried", async () => {
  let firstOutAt = 0;
  const looked: number[] = [];
  const { say, stateOf, clock } = setup(
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
  ["it cannot be looked up", {}],
  ["nobody can tell from a look", { readback: true }],
] as const)("shows a message of unknown outcome and does not repeat it where %s", async (_, delivery) => {
  let sends = 0;
  const { say, stateOf, clock } = setup(
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
});

it("goes on after the parts that were found on the platform", async () => {
  const sent: (number | undefined)[] = [];
  const { say, stateOf, clock } = setup(
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

it("records what is out however long the store fails, and sends it once", async () => {
  let sends = 0;
  const { say, stateOf, outbox, clock } = setup(async () => {
    sends++;
    outbox.beforeWrite = () => {
      throw full;
    };
    return ["om_1"];
  });
  const id = await say("oc_a", "one");
  await clock.advance(600_000);
  expect(await stateOf(id)).toBe("sending");
  outbox.beforeWrite = undefined;
  await clock.advance(300_000);
  expect([await stateOf(id), sends]).toEqual(["sent", 1]);
});

it("gives a part its whole time, however long the one before it took to record", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const tooLate: (boolean | undefined)[] = [];
  const { say, stateOf, outbox, clock } = setup(async ({ parts }, { signal, onPart }) => {
    for (const index of parts.keys()) {
      tooLate.push(signal?.aborted);
      if (index === 0)
        outbox.beforeWrite = () => {
          throw full;
        };
      await onPart?.({ index, messageId: `om_${index}` });
    }
    return [];
  });
  const id = await say("oc_a", "one", "two");
  vi.advanceTimersByTime(90_000);
  outbox.beforeWrite = undefined;
  await clock.advance(90_000);
  expect([await stateOf(id), tooLate]).toEqual(["sent", [false, false]]);
});

it("looks for a message whose sending could not be recorded, and does not send it again", async () => {
  let sends = 0;
  const { say, stateOf, outbox, clock } = setup(
    async () => {
      sends++;
      outbox.beforeWrite = () => {
        outbox.beforeWrite = undefined;
        throw new Error("broken");
      };
      return ["om_1"];
    },
    { capabilities: READBACK, reconcile: async () => ({ outcome: "sent", messageId: "om_1" }) },
  );
  const id = await say("oc_a", "one");
  await clock.advance(1_000);
  expect([await stateOf(id), sends]).toEqual(["sent", 1]);
});

it.each([
  ["was refused", new ChannelError("invalid", "no such thing"), "dead"],
  ["is to be sent again", new ChannelError("transient", "try later"), "sent"],
] as const)("holds nothing back where it cannot be written once that a message %s", async (_, error, end) => {
  let tries = 0;
  const { say, stateOf, outbox, clock } = setup(
    async () => {
      tries += 1;
      if (tries === 1)
        outbox.beforeWrite = () => {
          outbox.beforeWrite = undefined;
          throw new Error("broken");
        };
      if (tries === 1 || (tries === 2 && end === "dead")) throw error;
      return ["om_1"];
    },
    { capabilities: { ...KEYED, delivery: {} } },
  );
  const one = await say("oc_a", "one");
  const two = await say("oc_a", "two");
  await clock.advance(60_000);
  expect([await stateOf(one), await stateOf(two)]).toEqual([end, "sent"]);
});

it.each([0, Number.NaN])(
  "pauses before it tries again where a platform says to wait %d ms",
  async (retryAfterMs) => {
    let tries = 0;
    const { say, stateOf, clock } = setup(async () => {
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

it("does not let a message that waits long hold up one that waits shortly", async () => {
  const tries: string[] = [];
  const { say, stateOf, clock } = setup(async (message) => {
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

it("goes on without an attachment that never uploads, which says so", async () => {
  const out: string[] = [];
  let uploads = 0;
  const { say, stateOf, outbox, clock } = setup(async ({ parts }, { startAt = 0, onPart }) => {
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

it("ends what is too old without sending it", async () => {
  const sent: string[] = [];
  const { outbox, clock, delivery, settledAs } = setup(async (message) => {
    sent.push(textOf(message));
    return ["om_1"];
  });
  const old = { channel: "plain", account: "main", address: "a", expiresAt: clock.now() + 1 };
  await outbox.enqueue([{ ...old, payload: { parts: [{ type: "text", text: "old" }] } }], { lease });
  await clock.advance(1);
  delivery.wake();
  await clock.advance(0);
  expect([sent, settledAs]).toEqual([[], ["expired"]]);
});

it("ends replies also where it cannot be looked up in which language people are told so", async () => {
  const languageOf = () => Promise.reject(new Error("the row is damaged"));
  const { outbox, say, stateOf, clock, delivery, settledAs } = setup(
    async (message) => {
      if (textOf(message) === "refused") throw new ChannelError("invalid", "no");
      return ["om_1"];
    },
    { languageOf },
  );
  outbox.awaiting = async (id) => [id];
  const refused = await say("a", "refused");
  expect(await stateOf(refused)).toBe("dead");
  const old = { channel: "plain", account: "main", address: "b", expiresAt: clock.now() + 1 };
  await outbox.enqueue([{ ...old, payload: { parts: [{ type: "text", text: "old" }] } }], { lease });
  await clock.advance(1);
  delivery.wake();
  await clock.advance(0);
  expect(settledAs).toEqual(["dead", "sent", "expired", "sent"]);
});

it("waits for an account that does not run, and gives up at once for one that nobody configured", async () => {
  let running = false;
  const waiting = setup(async () => ["om_1"], { account: (it) => (running ? it : undefined) });
  const id = await waiting.say("a", "one");
  expect(await waiting.stateOf(id)).toBe("pending");
  running = true;
  await waiting.clock.advance(15_000);
  expect(await waiting.stateOf(id)).toBe("sent");
  const removed = setup(async () => [], { account: () => undefined, configured: false });
  expect(await removed.stateOf(await removed.say("a", "one"))).toBe("dead");
});

it("asks soon again for an account that is away, and tells the reason of a retry once", async () => {
  let asked = 0;
  const { say, settledAs, clock } = setup(
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
  expect([asked, settledAs]).toEqual([10, ["retry"]]);
  await clock.advance(60_000);
  expect(settledAs).toEqual(["retry", "retry"]);
});

it("gives back what a stop kept from being tried, and leaves what was under way", async () => {
  const never = Promise.withResolvers<readonly string[]>();
  const { say, stateOf, delivery, clock } = setup((_, { signal }) => {
    signal.addEventListener("abort", () => never.reject(signal.reason));
    return never.promise;
  });
  const id = await say("a", "one");
  const stopped = delivery.stop(1_000);
  await clock.advance(1_000);
  await stopped;
  expect([await stateOf(id), delivery.inFlight()]).toEqual(["sending", 0]);
});

it("sends what was handed over right before a stop", async () => {
  const { outbox, clock, delivery } = setup(async () => ["om_1"]);
  const payload: Outbound = { parts: [{ type: "text", text: "the last word" }] };
  const row = outboxRow({ channel: "plain", account: "main", address: "a" }, payload, {
    expiresAt: clock.now() + 60_000,
    claim: false,
  });
  const rows = await outbox.enqueue([row], { lease });
  delivery.deliver(rows);
  await delivery.stop(1_000);
  expect((await outbox.get(rows[0]?.id ?? ""))?.state).toBe("sent");
});

it("leaves a reply to the next start where the store is broken for good", async () => {
  const { say, outbox, clock, stateOf } = setup(async () => {
    outbox.beforeWrite = () => {
      throw new Error("broken");
    };
    outbox.get = () => Promise.reject(new Error("broken"));
    return ["om_1"];
  });
  const get = outbox.get;
  const id = await say("a", "one");
  await clock.advance(10_000);
  outbox.get = get;
  expect(await stateOf(id)).toBe("sending");
});
