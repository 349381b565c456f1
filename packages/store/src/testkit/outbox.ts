import type { LeaseToken } from "../types/common.ts";
import type { Store } from "../types/store.ts";
import {
  ACCOUNT,
  acquire,
  type Checks,
  enqueue,
  expectEqual,
  expectRejection,
  getIds,
  toReply,
} from "./under-test.ts";

const claim = (store: Store, lease: LeaseToken) => store.outbox.claimDue({ lease, limit: 10 });

export const outboxChecks: Checks = {
  "sends one row of a destination at a time, in order": async ({ store }) => {
    const lease = await acquire(store);
    const added = await store.outbox.enqueue([toReply("a"), toReply("a"), toReply("b")], { lease });
    const [first, second, other] = getIds(added);
    const { rows } = await claim(store, lease);
    expectEqual(getIds(rows), [first, other], "claimDue did not return the first row of each destination.");
    expectEqual(
      (await claim(store, lease)).rows,
      [],
      "A row was claimed while an earlier one is being sent.",
    );
    for (const { id } of rows) if (id === first) await store.outbox.markSent(id, lease);
    const next = (await claim(store, lease)).rows;
    expectEqual(getIds(next), [second], "The next row did not follow after the first was sent.");
    expectEqual(next[0]?.doubtful, false, "A row that was never tried is doubtful.");
  },

  "returns the existing row for a known key": async ({ store }) => {
    const lease = await acquire(store);
    const first = await enqueue(store, lease, "a", { key: "k1" });
    const again = await enqueue(store, lease, "b", { key: "k1" });
    expectEqual([again.id, again.address], [first.id, "a"], "A second row was added under the same key.");
    expectEqual((await store.outbox.withKey("k1"))?.id, first.id, "A row was not found by its key.");
    expectEqual(await store.outbox.withKey("k2"), undefined, "A row was found by an unknown key.");
  },

  "finds the row of a message by the receipt of any part, on its account only": async ({ store }) => {
    const lease = await acquire(store);
    const sent = await enqueue(store, lease, "a", { claim: true, partCount: 2 });
    const other = await enqueue(store, lease, "b", { claim: true });
    await store.outbox.markPart(sent.id, lease, { part: 0, receipt: { messageId: "m1" } });
    await store.outbox.markSent(sent.id, lease, [{ part: 1, receipt: { messageId: "m10" } }]);
    await store.outbox.markSent(other.id, lease, [{ part: 0, receipt: { note: "m2" } }]);
    const find = async (messageId: string, account = "main") =>
      (await store.outbox.ofMessage({ ...ACCOUNT, account, messageId }))?.id;
    expectEqual(await find("m1"), sent.id, "A row was not found by its first receipt.");
    expectEqual(await find("m10"), sent.id, "A row was not found by its last receipt.");
    expectEqual(await find("m2"), undefined, "A row was found by a value that is not a message id.");
    expectEqual(await find("m"), undefined, "A row was found by a part of a message id.");
    expectEqual(await find("m1", "second"), undefined, "A row was found on another account.");
  },

  "ends a sent row as dead if the platform reports later that it was not delivered": async ({ store }) => {
    const lease = await acquire(store);
    const { id } = await enqueue(store, lease, "a", { claim: true });
    expectEqual(
      await store.outbox.notDelivered(id, lease, "early"),
      false,
      "A row ended before it was sent.",
    );
    await store.outbox.markSent(id, lease, [{ part: 0, receipt: { messageId: "m1" } }]);
    const word = toReply("a", { key: "about-it" });
    const stale = { ...lease, epoch: lease.epoch - 1 };
    const late = store.outbox.notDelivered(id, stale, "late", word);
    await expectRejection(late, "fenced", "A former holder ended the row.");
    expectEqual(await store.outbox.notDelivered(id, lease, "no phone", word), true, "The row was not ended.");
    expectEqual(await store.outbox.notDelivered(id, lease, "again"), false, "The row was ended twice.");
    const row = await store.outbox.ofMessage({ ...ACCOUNT, messageId: "m1" });
    expectEqual([row?.state, row?.error], ["dead", "no phone"], "The row has no end or another reason.");
    expectEqual((await store.outbox.withKey("about-it"))?.state, "pending", "The notice was not added.");
    const again = await store.outbox.retry(id);
    expectEqual(again, { outcome: "refused", state: "dead" }, "A row that was sent can be sent again.");
    const dropped = await store.outbox.drop(id);
    expectEqual(dropped, { outcome: "applied", state: "dead" }, "The row cannot be dropped.");
  },

  "adds an entry of the group history together with its row, once": async ({ store, now }) => {
    const lease = await acquire(store);
    const told = { conversation: "c", id: "k1", senderId: "a", body: { text: "hello" }, at: now() };
    await enqueue(store, lease, "a", { key: "k1", told });
    await enqueue(store, lease, "a", { key: "k1", told: { ...told, id: "again" } });
    const stale = { ...lease, epoch: lease.epoch - 1 };
    const lost = enqueue(store, stale, "a", { told: { ...told, id: "lost" } });
    await expectRejection(lost, "fenced", "A row was added under an old epoch.");
    const entries = (await store.groupHistory.list("c")).map(({ id, body }) => ({ id, body }));
    expectEqual(entries, [{ id: "k1", body: told.body }], "The group history has other entries.");
  },

  "inserts a row as sending only if nothing else waits for its destination": async ({ store }) => {
    const lease = await acquire(store);
    const first = await enqueue(store, lease, "a", { claim: true });
    const second = await enqueue(store, lease, "a", { claim: true });
    expectEqual([first.state, second.state], ["sending", "pending"], "The states of the rows are wrong.");
  },

  "holds back a row that waits for a retry, and the rows after it": async ({ store, now, advance }) => {
    const lease = await acquire(store);
    const first = await enqueue(store, lease, "a", { claim: true });
    await enqueue(store, lease, "a");
    await store.outbox.retryAt(first.id, lease, now() + 1_000, "later");
    const early = await claim(store, lease);
    expectEqual(early, { rows: [], nextAt: now() + 1_000 }, "A row was claimed before it was due.");
    advance(1_000);
    const due = (await claim(store, lease)).rows;
    expectEqual(getIds(due), [first.id], "The row was not claimed when it was due.");
  },

  "does not wait for a retry after the clock was set back": async ({ store, now, advance }) => {
    const lease = await acquire(store);
    const first = await enqueue(store, lease, "a", { claim: true });
    const second = await enqueue(store, lease, "b");
    await store.outbox.retryAt(first.id, lease, now() + 1_000, "later");
    advance(-3_600_000);
    const { rows } = await claim(store, lease);
    expectEqual(getIds(rows), [first.id, second.id], "Rows wait for a time that the clock reaches too late.");
  },

  "hands over rows of a lost lease as doubtful and rejects its late writes": async ({ store }) => {
    const before = await acquire(store);
    const { id } = await enqueue(store, before, "a", { claim: true, partCount: 2 });
    await store.outbox.markPart(id, before, { part: 0, receipt: { messageId: "m0" } });
    const next = await acquire(store);
    const [row] = (await claim(store, next)).rows;
    const handedOver = [row?.id, row?.doubtful, row?.receipts.length];
    expectEqual(handedOver, [id, true, 1], "The row was not handed over as doubtful with its receipt.");
    const late = store.outbox.markSent(id, before);
    await expectRejection(late, "fenced", "The former holder marked the row as sent.");
    await store.outbox.markSent(id, next, [{ part: 1, receipt: { messageId: "m1" } }]);
    const sent = await store.outbox.get(id);
    const parts = sent?.receipts.map(({ part }) => part);
    expectEqual([sent?.state, parts], ["sent", [0, 1]], "The row lost its state or a receipt.");
  },

  "reports since when a doubtful part has been tried, over all holders": async ({ store, now, advance }) => {
    const holder = await acquire(store);
    const { id } = await enqueue(store, holder, "a", { claim: true, partCount: 2 });
    const claimLater = async (lease: LeaseToken) => {
      advance(1_000);
      const [row] = (await claim(store, lease)).rows;
      return [row?.doubtful, row?.updatedAt];
    };
    const first = now();
    const sentence = "A later claim changed the time of the first try.";
    expectEqual(await claimLater(await acquire(store)), [true, first], sentence);
    const lease = await acquire(store);
    expectEqual(await claimLater(lease), [true, first], sentence);
    await store.outbox.markPart(id, lease, { part: 0, receipt: { messageId: "m0" } });
    const second = now();
    const last = await acquire(store);
    const afterPart = await claimLater(last);
    expectEqual(afterPart, [true, second], "The next part is not counted from the receipt before it.");
    await store.outbox.retryAt(id, last, now(), "refused");
    const retried = await claimLater(last);
    expectEqual(retried, [false, now()], "A part that was certainly not sent is still doubtful.");
  },

  "passes a row that may have been sent to another holder, as doubtful": async ({ store, now, advance }) => {
    const lease = await acquire(store);
    const other = await store.leases.acquire("other", "other", 3_600_000);
    if (other === undefined) throw new Error("A free lease was not acquired.");
    const { id } = await enqueue(store, lease, "a", { claim: true });
    const first = now();
    advance(1_000);
    expectEqual((await claim(store, other)).rows, [], "A row was taken from a holder that sends it.");
    await store.outbox.handOver(id, lease);
    const [row] = (await claim(store, other)).rows;
    expectEqual(
      [row?.id, row?.doubtful],
      [id, true],
      "A row that was handed over is not claimed as doubtful.",
    );
    expectEqual(row?.updatedAt, first, "Handing a row over changed the time of the first try.");
    await expectRejection(
      store.outbox.markSent(id, lease),
      "fenced",
      "The earlier holder could end a row that another one sends.",
    );
    await store.outbox.markSent(id, other);
    await expectRejection(
      store.outbox.handOver(id, other),
      "conflict",
      "A row that was sent could be handed over.",
    );
  },

  "expires rows past their time to live, and adds a notice in the same transaction": async (under) => {
    const { store, now, advance } = under;
    const lease = await acquire(store);
    const old = await enqueue(store, lease, "a", { expiresAt: now() + 1_000 });
    advance(1_000);
    const overdue = getIds(await store.outbox.overdue());
    expectEqual(overdue, [old.id], "An expired row is not overdue.");
    expectEqual((await claim(store, lease)).rows, [], "An expired row was claimed.");
    const notice = toReply("a", { key: "about" });
    const expired = getIds(await store.outbox.expire(overdue, lease, notice));
    expectEqual(expired, overdue, "An overdue row was not expired.");
    expectEqual(await store.outbox.overdue(), [], "An expired row is still overdue.");
    const again = await store.outbox.expire(overdue, lease, { ...notice, key: "again" });
    expectEqual(again, [], "A row expired twice.");
    const { rows } = await claim(store, lease);
    expectEqual(
      rows.map(({ key, state }) => [key, state]),
      [["about", "sending"]],
      "Not exactly one notice was added.",
    );
    expectEqual((await store.outbox.get(old.id))?.state, "expired", "The row has another state.");
  },

  "gives up a row, and adds a notice in the same transaction": async ({ store }) => {
    const lease = await acquire(store);
    const { id } = await enqueue(store, lease, "a", { claim: true });
    await store.outbox.dead(id, lease, "refused", toReply("a", { key: "about" }));
    expectEqual(getIds(await store.outbox.list()), [id], "A dead row is not listed.");
    expectEqual((await claim(store, lease)).rows.length, 1, "The notice was not added.");
  },

  "knows whether a destination has open rows": async ({ store }) => {
    const lease = await acquire(store);
    await enqueue(store, lease, "first");
    for (let n = 0; n < 150; n++) await enqueue(store, lease, `other ${n}`);
    const hasOpen = (address: string) => store.outbox.hasOpen({ ...ACCOUNT, address });
    expectEqual(await hasOpen("first"), true, "An open row was not found among many destinations.");
    expectEqual(await hasOpen("unknown"), false, "A destination without rows has open ones.");
  },

  "knows whether a destination has rows that may have been sent in part": async ({ store, now }) => {
    const lease = await acquire(store);
    const may = () => store.outbox.hasPartlySent({ ...ACCOUNT, address: "a" });
    expectEqual(await may(), false, "A destination without rows has one that may have been sent.");
    const { id } = await enqueue(store, lease, "a", { partCount: 2, claim: true });
    expectEqual(await may(), true, "A row that is being sent does not count.");
    await store.outbox.retryAt(id, lease, now());
    expectEqual(await may(), false, "A pending row without receipts counts.");
    await claim(store, lease);
    await store.outbox.markPart(id, lease, { part: 0, receipt: { messageId: "m0" } });
    await store.outbox.retryAt(id, lease, now());
    expectEqual(await may(), true, "A pending row with a receipt does not count.");
    await claim(store, lease);
    await store.outbox.dead(id, lease);
    expectEqual(await may(), false, "A row that was given up counts.");
  },

  "lists rows changed after a time, earliest change first": async ({ store, now, advance }) => {
    const lease = await acquire(store);
    const ids = [];
    for (const address of ["a", "b"]) ids.push((await enqueue(store, lease, address, { claim: true })).id);
    const start = now();
    for (const id of ids) {
      advance(1);
      await store.outbox.uncertain(id, lease, "unknown outcome");
    }
    const list = async (at: number, id?: string) =>
      getIds(await store.outbox.list({ changedAfter: { at, id } }));
    expectEqual(await list(start), ids, "The changed rows or their order are wrong.");
    expectEqual(await list(start + 1, ids[0]), ids.slice(1), "The row that was named is listed again.");
  },
};
