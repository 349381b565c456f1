import assert from "node:assert/strict";
import type { LeaseToken, OutboxInsert, OutboxStore } from "../outbox.ts";

/** An implementation under test. */
export interface OutboxUnderTest {
  readonly outbox: OutboxStore;
  /** The lease that the outbox is held under now. */
  readonly lease: LeaseToken;
  /** Another process takes the lease over. */
  takeOver(): Promise<LeaseToken>;
  /** Lets so many milliseconds pass on the outbox's clock. */
  advance(ms: number): void | Promise<void>;
  now(): number;
  /** What came with rows for whoever answers in a conversation. */
  toldIn(conversation: string): Promise<readonly { readonly id: string; readonly body: unknown }[]>;
}

/** A runner's `test`, such as Vitest's. */
type Test = (name: string, run: () => Promise<void>) => void;

const row = (address: string, extra: Partial<OutboxInsert> = {}): OutboxInsert => ({
  channel: "plain",
  account: "main",
  address,
  payload: { parts: [{ type: "text", text: "hello" }] },
  ...extra,
});

const CHECKS: Readonly<Record<string, (it: OutboxUnderTest) => Promise<void>>> = {
  "gives out one row of a destination at a time, in the order in which they were added": async (it) => {
    const added = await it.outbox.enqueue([row("a"), row("a"), row("b")], it);
    const first = await it.outbox.claimDue({ lease: it.lease, limit: 10 });
    assert.deepEqual(ids(first.rows), [added[0]?.id, added[2]?.id]);
    assert.deepEqual((await it.outbox.claimDue({ lease: it.lease, limit: 10 })).rows, []);
    await it.outbox.markSent(added[0]?.id ?? "", it.lease);
    const next = await it.outbox.claimDue({ lease: it.lease, limit: 10 });
    assert.deepEqual(ids(next.rows), [added[1]?.id]);
    assert.equal(next.rows[0]?.doubtful, false);
  },

  "gives the first row back under a key that is there": async (it) => {
    const [first] = await it.outbox.enqueue([row("a", { key: "k1" })], it);
    const [again] = await it.outbox.enqueue([row("b", { key: "k1" })], it);
    assert.deepEqual([again?.id, again?.address], [first?.id, "a"]);
    assert.deepEqual(
      [(await it.outbox.withKey("k1"))?.id, await it.outbox.withKey("k2")],
      [first?.id, undefined],
    );
  },

  "finds the row of a message by any of its parts, on its own account alone": async (it) => {
    const [sent, other] = await it.outbox.enqueue(
      [row("a", { claim: true, partCount: 2 }), row("b", { claim: true })],
      it,
    );
    await it.outbox.markPart(sent?.id ?? "", it.lease, { part: 0, receipt: { messageId: "m1" } });
    await it.outbox.markSent(sent?.id ?? "", it.lease, [{ part: 1, receipt: { messageId: "m10" } }]);
    await it.outbox.markSent(other?.id ?? "", it.lease, [{ part: 0, receipt: { note: "m2" } }]);
    const of = async (messageId: string, account = "main") =>
      (await it.outbox.ofMessage({ channel: "plain", account, messageId }))?.id;
    assert.deepEqual([await of("m1"), await of("m10")], [sent?.id, sent?.id]);
    assert.deepEqual([await of("m2"), await of("m"), await of("m1", "second")], Array(3).fill(undefined));
  },

  "keeps what is told of a row with it, once": async (it) => {
    const told = { conversation: "c", id: "k1", senderId: "a", body: { text: "hello" }, at: it.now() };
    await it.outbox.enqueue([row("a", { key: "k1", told })], it);
    await it.outbox.enqueue([row("a", { key: "k1", told: { ...told, id: "again" } })], it);
    await assert.rejects(
      it.outbox.enqueue([row("a", { told: { ...told, id: "lost" } })], {
        lease: { ...it.lease, epoch: it.lease.epoch - 1 },
      }),
    );
    assert.deepEqual(
      (await it.toldIn("c")).map(({ id, body }) => ({ id, body })),
      [{ id: "k1", body: told.body }],
    );
  },

  "inserts a claimed row as sending, unless something waits for its destination": async (it) => {
    const [first] = await it.outbox.enqueue([row("a", { claim: true })], it);
    const [second] = await it.outbox.enqueue([row("a", { claim: true })], it);
    assert.deepEqual([first?.state, second?.state], ["sending", "pending"]);
  },

  "holds a row that waits, and what follows it, until it is due": async (it) => {
    const [first] = await it.outbox.enqueue([row("a", { claim: true }), row("a")], it);
    await it.outbox.retryAt(first?.id ?? "", it.lease, it.now() + 1_000, "later");
    const none = await it.outbox.claimDue({ lease: it.lease, limit: 10 });
    assert.deepEqual([none.rows.length, none.nextAt], [0, it.now() + 1_000]);
    await it.advance(1_000);
    assert.deepEqual(ids((await it.outbox.claimDue({ lease: it.lease, limit: 10 })).rows), [first?.id]);
  },

  "has nothing wait where the clock was set back": async (it) => {
    const added = await it.outbox.enqueue([row("a", { claim: true }), row("b")], it);
    await it.outbox.retryAt(added[0]?.id ?? "", it.lease, it.now() + 1_000, "later");
    await it.advance(-3_600_000);
    const { rows } = await it.outbox.claimDue({ lease: it.lease, limit: 10 });
    assert.deepEqual(ids(rows), ids(added));
  },

  "gives rows of a lost lease to the next holder as doubtful, and refuses the old one's writes": async (
    it,
  ) => {
    const [sending] = await it.outbox.enqueue([row("a", { claim: true, partCount: 2 })], it);
    const id = sending?.id ?? "";
    await it.outbox.markPart(id, it.lease, { part: 0, receipt: { messageId: "m0" } });
    const before = it.lease;
    const next = await it.takeOver();
    const { rows } = await it.outbox.claimDue({ lease: next, limit: 10 });
    assert.deepEqual([rows[0]?.id, rows[0]?.doubtful, rows[0]?.receipts.length], [id, true, 1]);
    await assert.rejects(it.outbox.markSent(id, before));
    await it.outbox.markSent(id, next, [{ part: 1, receipt: { messageId: "m1" } }]);
    const ended = await it.outbox.get(id);
    assert.deepEqual([ended?.state, ended?.receipts.map(({ part }) => part)], ["sent", [0, 1]]);
  },

  "tells since when a doubtful send has been tried, however often it was claimed since": async (it) => {
    const [sending] = await it.outbox.enqueue([row("a", { claim: true, partCount: 2 })], it);
    const id = sending?.id ?? "";
    const claimLater = async (lease: LeaseToken) => {
      await it.advance(1_000);
      const [claimed] = (await it.outbox.claimDue({ lease, limit: 10 })).rows;
      return [claimed?.doubtful, claimed?.updatedAt];
    };
    const first = it.now();
    assert.deepEqual(await claimLater(await it.takeOver()), [true, first]);
    const lease = await it.takeOver();
    assert.deepEqual(await claimLater(lease), [true, first]);
    // With the receipt of a part, the send of the next one begins.
    await it.outbox.markPart(id, lease, { part: 0, receipt: { messageId: "m0" } });
    const second = it.now();
    const last = await it.takeOver();
    assert.deepEqual(await claimLater(last), [true, second]);
    // What was certainly not sent begins anew.
    await it.outbox.retryAt(id, last, it.now(), "refused");
    assert.deepEqual(await claimLater(last), [false, it.now()]);
  },

  "ends what is too old, with a word about it in the same transaction": async (it) => {
    const [old] = await it.outbox.enqueue([row("a", { expiresAt: it.now() + 1_000 })], it);
    await it.advance(1_000);
    const overdue = ids(await it.outbox.overdue());
    assert.deepEqual(overdue, [old?.id]);
    assert.deepEqual((await it.outbox.claimDue({ lease: it.lease, limit: 10 })).rows, []);
    const word = row("a", { key: "about" });
    assert.deepEqual(ids(await it.outbox.expire(overdue, it.lease, word)), overdue);
    assert.deepEqual(await it.outbox.overdue(), []);
    // What has its end needs no second word.
    assert.deepEqual(await it.outbox.expire(overdue, it.lease, { ...word, key: "again" }), []);
    const { rows } = await it.outbox.claimDue({ lease: it.lease, limit: 10 });
    assert.deepEqual([rows.map(({ key }) => key), rows[0]?.state], [["about"], "sending"]);
    assert.equal((await it.outbox.get(old?.id ?? ""))?.state, "expired");
  },

  "gives up, with a word about it in the same transaction": async (it) => {
    const [given] = await it.outbox.enqueue([row("a", { claim: true })], it);
    await it.outbox.dead(given?.id ?? "", it.lease, "refused", row("a", { key: "about" }));
    assert.deepEqual(ids(await it.outbox.list()), [given?.id]);
    assert.equal((await it.outbox.claimDue({ lease: it.lease, limit: 10 })).rows.length, 1);
  },

  "knows whether a destination has open rows, however many others have": async (it) => {
    await it.outbox.enqueue([row("first")], it);
    for (let n = 0; n < 150; n++) await it.outbox.enqueue([row(`other ${n}`)], it);
    const at = (address: string) => it.outbox.hasOpen({ channel: "plain", account: "main", address });
    assert.deepEqual([await at("first"), await at("nobody")], [true, false]);
  },

  "lists what changed after a moment, the earliest first": async (it) => {
    const added = await it.outbox.enqueue([row("a", { claim: true }), row("b", { claim: true })], it);
    const start = it.now();
    for (const { id } of added) {
      await it.advance(1);
      await it.outbox.uncertain(id, it.lease, "nobody knows");
    }
    assert.deepEqual(ids(await it.outbox.list({ changedAfter: { at: start } })), ids(added));
    const [first] = added;
    const after = { at: start + 1, ...(first === undefined ? {} : { id: first.id }) };
    assert.deepEqual(ids(await it.outbox.list({ changedAfter: after })), ids(added.slice(1)));
  },
};

/** What every {@link OutboxStore} has to keep. `open` gives a fresh, empty one. */
export function outboxConformance(test: Test, open: () => Promise<OutboxUnderTest>): void {
  for (const [name, check] of Object.entries(CHECKS))
    test(`outbox: ${name}`, async () => check(await open()));
}

function ids(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
