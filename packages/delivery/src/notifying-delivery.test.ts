import { phrasesIn } from "@signalbox/phrases";
import { expect, it, onTestFinished } from "vitest";
import { manualClock } from "../test/manual-clock.ts";
import { plainAccount, silentLogger } from "../test/plain.ts";
import { createNotifyingDelivery, outboxRow } from "./index.ts";
import { createMemoryOutbox } from "./testkit/index.ts";

const lease = { name: "gateway", epoch: 1 };
const ROOM = { channel: "plain", account: "main", address: "room" };

function open() {
  const clock = manualClock();
  const outbox = createMemoryOutbox(clock);
  const settled: string[] = [];
  const account = plainAccount({
    send: async () => ({ parts: [{ index: 0, messageId: "m1" }] }),
    openDirect: async (person: string) => `direct to ${person}`,
  });
  const delivery = createNotifyingDelivery({
    outbox,
    lease,
    clock,
    account: (_, name) => (name === "main" ? account : undefined),
    accountsOf: (channel) => (channel === "plain" ? [{ account: "main" }] : []),
    lastHeardOf: async () => ({ account: "main", phrases: phrasesIn("en") }),
    owners: () => ["plain:olga"],
    notes: { get: async () => undefined, set: async () => {} },
    peers: async () => [{ channel: "plain", account: "main", peerId: "pat", approvedAt: clock.now() }],
    configured: (_, name) => name === "main",
    isPassing: () => false,
    openMedia: () => Promise.reject(new Error("nothing is attached")),
    logger: silentLogger,
    onSettled: (row, state) => settled.push(`${row.account} ${state}`),
  });
  onTestFinished(() => delivery.stop(0));
  return { clock, outbox, delivery, settled };
}

it("tells owners what was given up, and whoever asks how each message ended", async () => {
  const { clock, outbox, delivery, settled } = open();
  const payload = { parts: [{ type: "text" as const, text: "hello" }] };
  await outbox.enqueue(
    [outboxRow({ ...ROOM, account: "gone" }, payload, { expiresAt: 1e15, claim: false })],
    { lease },
  );
  delivery.wake();
  await expect.poll(() => settled).toEqual(["gone dead"]);
  await clock.advance(700_000);
  await expect.poll(() => settled).toEqual(["gone dead", "main sent"]);
  const [told] = await outbox.list({ states: ["sent"] });
  expect(told?.address).toBe("direct to olga");
});

it("looks for what an earlier process gave up from its first wake on, and not before", async () => {
  const { clock, outbox, delivery, settled } = open();
  const payload = { parts: [{ type: "text" as const, text: "hello" }] };
  const row = outboxRow(ROOM, payload, { expiresAt: 1e15, claim: true });
  const [left] = await outbox.enqueue([row], { lease });
  await outbox.dead(left?.id ?? "", lease, "gone");
  await clock.advance(700_000);
  expect(clock.waiting).toBe(0);
  expect(await outbox.list({ states: ["pending", "sent"] })).toEqual([]);
  delivery.wake();
  await clock.advance(2_000);
  await expect.poll(() => settled).toEqual(["main sent"]);
});

it("tells people that they were let in", async () => {
  const { outbox, delivery, settled } = open();
  await delivery.pairingNotices.look();
  await expect.poll(() => settled).toEqual(["main sent"]);
  expect((await outbox.list({ states: ["sent"] }))[0]?.address).toBe("direct to pat");
});
