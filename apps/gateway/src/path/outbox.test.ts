import {
  type Capabilities,
  type Channel,
  ChannelError,
  type Outbound,
  type OutboundPart,
  type Reconciled,
  type SendOptions,
} from "@signalbox/channel";
import { feishu } from "@signalbox/channel-feishu";
import { type FaultPoint, type OutboxId, openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import type { Account } from "../channels.ts";
import { createLogger, createRedactor } from "../log.ts";
import { createDeliverer, type Deliverer } from "./outbox.ts";
import { outboxRow } from "./outbox-row.ts";
import type { GatewayBodies, GatewayStore } from "./stored.ts";

type Send = (message: Outbound, options: SendOptions) => Promise<readonly string[]>;

interface Setup {
  readonly store: GatewayStore;
  readonly deliverer: Deliverer;
  /** Puts a text of these parts into the outbox and has it delivered. */
  say(address: string, ...parts: (string | OutboundPart)[]): Promise<OutboxId>;
  stateOf(id: OutboxId): Promise<string | undefined>;
}

const RATELESS: Capabilities = { ...feishu.capabilities, rate: [] };
/** As where the platform has no key: a message is looked for by what it says. */
const READBACK: Capabilities = { ...RATELESS, delivery: { readback: true } };

async function setup(
  send: Send,
  extra: {
    readonly capabilities?: Capabilities;
    readonly reconcile?: (part: number) => Promise<Reconciled>;
    readonly faults?: (point: FaultPoint) => void;
  } = {},
): Promise<Setup> {
  const store = await openStore<GatewayBodies>({
    path: ":memory:",
    ...(extra.faults === undefined ? {} : { faults: extra.faults }),
  });
  const lease = await store.leases.acquire("gateway", "test", 60_000);
  if (!lease) throw new Error("no lease");
  const { reconcile } = extra;
  const running: Channel = {
    start: async () => {},
    stop: async () => {},
    health: () => ({ state: "ready" }),
    self: () => undefined,
    async send(_to, message, options) {
      const ids = await send(message, options);
      return { parts: ids.map((messageId, at) => ({ index: (options.startAt ?? 0) + at, messageId })) };
    },
    ...(reconcile === undefined ? {} : { reconcile: ({ part }) => reconcile(part) }),
  };
  const account: Account = {
    channel: "feishu",
    account: "main",
    definition: { ...feishu, capabilities: extra.capabilities ?? RATELESS },
    running,
  };
  const deliverer = createDeliverer({
    store,
    lease,
    configured: () => true,
    account: () => account,
    openMedia: () => Promise.reject(new Error("nothing is attached here")),
    logger: createLogger("fatal", createRedactor([])),
    now: Date.now,
    random: () => 0,
    onSettled: () => {},
  });
  onTestFinished(async () => {
    await deliverer.stop(0);
    await store.close();
  });
  return {
    store,
    deliverer,
    async say(address, ...parts) {
      const payload: Outbound = {
        parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
      };
      const place = { channel: "feishu", account: "main", address: feishu.codec.encode({ id: address }) };
      const row = outboxRow(place, payload, { expiresAt: Date.now() + 60_000, claim: true });
      const [added] = await store.outbox.enqueue([row], { lease });
      if (!added) throw new Error("no row");
      deliverer.deliver([added]);
      return added.id;
    },
    stateOf: async (id) => (await store.outbox.get(id))?.state,
  };
}

const textOf = ({ parts }: Outbound): string =>
  parts.map((part) => ("text" in part ? part.text : part.name)).join("|");

it("sends what waits behind a slow message of its conversation as soon as that is out", async () => {
  const slow = Promise.withResolvers<void>();
  const sent: string[] = [];
  const { say, stateOf } = await setup(async (message) => {
    if (sent.length === 0) await slow.promise;
    sent.push(textOf(message));
    return ["om_1"];
  });
  const ids = [await say("oc_a", "one"), await say("oc_a", "two"), await say("oc_a", "three")];
  // The outbox has been looked through while the first one was under way.
  await new Promise((resolve) => setTimeout(resolve, 20));
  slow.resolve();
  await expect.poll(() => Promise.all(ids.map(stateOf))).toEqual(["sent", "sent", "sent"]);
  expect(sent).toEqual(["one", "two", "three"]);
});

it("keeps to the rate of a platform that has complained for every part, as each is a request", async () => {
  let complaints = 1;
  const at: number[] = [];
  const { say, stateOf } = await setup(
    async ({ parts }, { onPart }) => {
      if (complaints-- > 0) throw new ChannelError("rate_limited", "too many", { retryAfterMs: 1 });
      for (const index of parts.keys()) {
        at.push(performance.now());
        await onPart?.({ index, messageId: `om_${index}` });
      }
      return parts.map((_, index) => `om_${index}`);
    },
    { capabilities: { ...RATELESS, rate: [{ scope: "conversation", perSecond: 20, burst: 1 }] } },
  );
  const id = await say("oc_a", "one", "two", "three");
  await expect.poll(() => stateOf(id)).toBe("sent");
  const [first = 0, , third = 0] = at;
  // Two waits of 50 ms; without them they would come at once.
  expect(third - first).toBeGreaterThan(80);
});

it("looks for a message of unknown outcome before it sends it again, and never gives it back as unsent", async () => {
  let sends = 0;
  const looked: number[] = [];
  const { say, stateOf } = await setup(
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
  await expect.poll(() => looked.length).toBe(1);
  expect(await stateOf(id)).toBe("sending");
  await expect.poll(() => stateOf(id)).toBe("sent");
  expect([sends, looked]).toEqual([1, [0, 0]]);
});

it("repeats a message of unknown outcome under its key where the platform has one, whatever reads like it", async () => {
  const keys: string[] = [];
  const { say, stateOf } = await setup(
    async (_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      if (keys.length === 1) throw new ChannelError("unknown_outcome", "the connection broke");
      return ["om_2"];
    },
    { reconcile: async () => ({ outcome: "sent", messageId: "om_another" }) },
  );
  const id = await say("oc_a", "yes");
  await expect.poll(() => stateOf(id)).toBe("sent");
  expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
});

it.each([
  ["it cannot be looked up", {}],
  ["nobody can tell from a look", { readback: true }],
] as const)("shows a message of unknown outcome and does not repeat it where %s", async (_, delivery) => {
  let sends = 0;
  const { say, stateOf } = await setup(
    async () => {
      sends++;
      throw new ChannelError("unknown_outcome", "the connection broke");
    },
    { capabilities: { ...RATELESS, delivery }, reconcile: async () => ({ outcome: "unknown" }) },
  );
  const id = await say("oc_a", "one");
  await expect.poll(() => stateOf(id)).toBe("uncertain");
  expect(sends).toBe(1);
});

it("goes on after the parts that were found on the platform", async () => {
  const sent: (number | undefined)[] = [];
  const { say, stateOf } = await setup(
    async (_, { startAt }) => {
      sent.push(startAt);
      if (sent.length === 1) throw new ChannelError("unknown_outcome", "the connection broke");
      return ["om_2"];
    },
    { capabilities: READBACK, reconcile: async () => ({ outcome: "sent", messageId: "om_1" }) },
  );
  const id = await say("oc_a", "one", "two");
  await expect.poll(() => stateOf(id)).toBe("sent");
  expect(sent).toEqual([0, 1]);
});

it("notes what is out however long the store fails, and sends it once", async () => {
  let sends = 0;
  let failing = false;
  const { say, stateOf } = await setup(
    async () => {
      sends++;
      failing = true;
      setTimeout(() => {
        failing = false;
      }, 700);
      return ["om_1"];
    },
    {
      faults(point) {
        if (failing && point === "write") throw Object.assign(new Error("full"), { code: "SQLITE_FULL" });
      },
    },
  );
  const id = await say("oc_a", "one");
  await expect.poll(() => stateOf(id)).toBe("sent");
  expect(sends).toBe(1);
});

it("looks for a message whose sending could not be written down, and does not send it again", async () => {
  let sends = 0;
  let failing = false;
  const { say, stateOf } = await setup(
    async () => {
      sends++;
      failing = true;
      return ["om_1"];
    },
    {
      capabilities: READBACK,
      reconcile: async () => ({ outcome: "sent", messageId: "om_1" }),
      faults(point) {
        if (!failing || point !== "write") return;
        failing = false;
        throw Object.assign(new Error("broken"), { code: "SQLITE_IOERR_WRITE" });
      },
    },
  );
  const id = await say("oc_a", "one");
  await expect.poll(() => stateOf(id)).toBe("sent");
  expect(sends).toBe(1);
});

it("does not let a message that waits long hold up one that waits shortly", async () => {
  const tries: string[] = [];
  const { say, stateOf } = await setup(async (message) => {
    tries.push(textOf(message));
    if (textOf(message) === "long") throw new ChannelError("auth", "refused");
    if (tries.filter((one) => one === "short").length === 1)
      throw new ChannelError("transient", "later", { retryAfterMs: 60 });
    return ["om_1"];
  });
  const short = await say("oc_a", "short");
  await expect.poll(() => tries).toEqual(["short"]);
  await say("oc_b", "long");
  await expect.poll(() => stateOf(short)).toBe("sent");
});

it("goes on without an attachment that never uploads, which says so", async () => {
  const out: string[] = [];
  let uploads = 0;
  const { say, stateOf, store } = await setup(async ({ parts }, { startAt = 0, onPart }) => {
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
  await expect.poll(() => Promise.all(ids.map(stateOf))).toEqual(["sent", "sent"]);
  const line = "[file: a.zip was not sent: it could not be uploaded]";
  expect(out).toEqual(["Here:", line, "That is all.", "next"]);
  expect(uploads).toBe(5);
  expect((await store.outbox.list({ states: ["sent"] })).map(({ receipts }) => receipts.length)).toContain(3);
});
