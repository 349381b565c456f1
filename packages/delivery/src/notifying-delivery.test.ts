import { phrasesIn } from "@signalbox/phrases";
import { expect, it, onTestFinished } from "vitest";
import { openOutbox } from "../test/open-outbox.ts";
import { plainAccount, silentLogger } from "../test/plain.ts";
import { createNotifyingDelivery, createOutboxRow } from "./index.ts";

const ROOM = { channel: "plain", account: "main", address: "room" };

async function open() {
  const { clock, outbox, lease, notes } = await openOutbox();
  const outcomes: string[] = [];
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
    getLastContact: async () => ({ account: "main", phrases: phrasesIn("en") }),
    owners: () => ["plain:olga"],
    notes,
    peers: async () => [{ channel: "plain", account: "main", peerId: "pat", approvedAt: clock.now() }],
    configured: (_, name) => name === "main",
    logger: silentLogger,
    onOutcome: (row, outcome) => outcomes.push(`${row.account} ${outcome}`),
  });
  onTestFinished(() => delivery.stop(0));
  return { clock, outbox, lease, delivery, outcomes };
}

it("notifies owners of given-up replies, and reports the outcome of each message", async () => {
  const { clock, outbox, lease, delivery, outcomes } = await open();
  const payload = { parts: [{ type: "text" as const, text: "hello" }] };
  await outbox.enqueue(
    [createOutboxRow({ ...ROOM, account: "gone" }, payload, { expiresAt: 1e15, claim: false })],
    { lease },
  );
  delivery.wake();
  await expect.poll(() => outcomes).toEqual(["gone dead"]);
  await clock.advance(700_000);
  await expect.poll(() => outcomes).toEqual(["gone dead", "main sent"]);
  const [told] = await outbox.list({ states: ["sent"] });
  expect(told?.address).toBe("direct to olga");
});

it("notifies owners of replies that an earlier process gave up, at its first wake", async () => {
  const { clock, outbox, lease, delivery, outcomes } = await open();
  const payload = { parts: [{ type: "text" as const, text: "hello" }] };
  const row = createOutboxRow(ROOM, payload, { expiresAt: 1e15, claim: true });
  const [left] = await outbox.enqueue([row], { lease });
  if (left === undefined) throw new Error("The outbox returned no row.");
  await outbox.dead(left.id, lease, "gone");
  await clock.advance(700_000);
  expect(clock.waiting).toBe(0);
  expect(await outbox.list({ states: ["pending", "sent"] })).toEqual([]);
  delivery.wake();
  await clock.advance(2_000);
  await expect.poll(() => outcomes).toEqual(["main sent"]);
});

it("notifies people that they were paired", async () => {
  const { outbox, delivery, outcomes } = await open();
  await delivery.pairingNotices.poll();
  await expect.poll(() => outcomes).toEqual(["main sent"]);
  expect((await outbox.list({ states: ["sent"] }))[0]?.address).toBe("direct to pat");
});
