import type { InboxId } from "../../types/common.ts";
import type { OutboxInsert, OutboxRow } from "../../types/outbox.ts";
import type { Suite } from "./suite.ts";
import { accepted, begun, reply, takeLease } from "./support.ts";

const ids = (rows: readonly OutboxRow[]) => rows.map((row) => row.id);

function only<V>(values: readonly V[]): V {
  const [value] = values;
  if (value === undefined || values.length !== 1) throw new Error(`one value, not ${values.length}`);
  return value;
}

export const outboxSuite: Suite = ({ test, expect, open }) => {
  test("a row is claimed, sent part by part, and keeps its receipts", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const row = only(
      await store.outbox.enqueue([{ ...reply("hello"), partCount: 2 }], { lease, sessionKey: "s" }),
    );
    expect(row).toMatchObject({ state: "pending", attempts: 0, partCount: 2, sessionKey: "s", receipts: [] });
    expect(row.key).toMatch(/^[\w-]{1,20}$/);
    const claim = await store.outbox.claimDue({ lease, limit: 10 });
    expect(claim).toMatchObject({
      rows: [{ id: row.id, state: "sending", attempts: 1, doubtful: false }],
    });
    expect(await store.outbox.claimDue({ lease, limit: 10 })).toEqual({ rows: [] });
    await store.outbox.markPart(row.id, lease, { part: 0, receipt: { id: "a" } });
    time.now += 3;
    await store.outbox.markSent(row.id, lease, [{ part: 1, receipt: { id: "b" } }]);
    expect(await store.outbox.get(row.id)).toMatchObject({
      state: "sent",
      receipts: [
        { part: 0, receipt: { id: "a" } },
        { part: 1, receipt: { id: "b" } },
      ],
      updatedAt: time.now,
    });
    await expect(store.outbox.markSent(row.id, lease)).rejects.toMatchObject({ code: "conflict" });
  });

  test("rows of an account in `except` are not claimed, not even doubtful ones", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const pending = { ...reply("1", "a"), account: "other" };
    const [left] = await store.outbox.enqueue([{ ...reply("0", "b"), account: "other" }], { lease });
    await store.outbox.claimDue({ lease, limit: 10 });
    const [waiting, free] = await store.outbox.enqueue([pending, reply("2", "a")], { lease });
    await store.leases.release(lease);
    const next = await takeLease(store);
    const except = [{ channel: pending.channel, account: "other" }];
    const claim = await store.outbox.claimDue({ lease: next, limit: 10, except });
    expect(claim).toMatchObject({ rows: [{ id: free?.id }] });
    expect(await store.outbox.get(String(left?.id))).toMatchObject({ state: "sending", attempts: 1 });
    const rest = await store.outbox.claimDue({ lease: next, limit: 10 });
    expect(rest.rows).toMatchObject([
      { id: left?.id, doubtful: true },
      { id: waiting?.id, doubtful: false },
    ]);
  });

  test("rows of one address are sent in order, and a retry holds back later ones", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const [a1, a2, b1] = await store.outbox.enqueue([reply("1", "a"), reply("2", "a"), reply("3", "b")], {
      lease,
    });
    if (a1 === undefined || a2 === undefined || b1 === undefined) throw new Error("three rows");
    expect(ids((await store.outbox.claimDue({ lease, limit: 10 })).rows)).toEqual([a1.id, b1.id]);
    await store.outbox.retryAt(a1.id, lease, time.now + 100, "429");
    expect(await store.outbox.claimDue({ lease, limit: 10 })).toEqual({
      rows: [],
      nextAt: time.now + 100,
    });
    time.now += 100;
    const again = only((await store.outbox.claimDue({ lease, limit: 10 })).rows);
    expect(again).toMatchObject({ id: a1.id, attempts: 2, error: "429", doubtful: false });
    await store.outbox.dead(a1.id, lease, "gone");
    expect(ids((await store.outbox.claimDue({ lease, limit: 10 })).rows)).toEqual([a2.id]);
    await store.outbox.uncertain(a2.id, lease, "cut off");
    expect((await store.outbox.list()).map((row) => [row.id, row.state])).toEqual([
      [a2.id, "uncertain"],
      [a1.id, "dead"],
    ]);
  });

  test("rows changed after a time are listed, including old rows", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const [old, next] = await store.outbox.enqueue([reply("1", "a"), reply("2", "b")], { lease });
    if (old === undefined || next === undefined) throw new Error("two rows");
    await store.outbox.claimDue({ lease, limit: 9 });
    await store.outbox.dead(next.id, lease, "gone");
    const looked = time.now;
    expect(ids(await store.outbox.list({ limit: 1 }))).toEqual([next.id]);
    time.now += 1;
    await store.outbox.dead(old.id, lease, "gone too");
    expect(ids(await store.outbox.list({ limit: 1 }))).toEqual([next.id]);
    const changed = async (after: { at: number; id?: string }, limit = 9) =>
      ids(await store.outbox.list({ states: ["dead"], changedAfter: after, limit }));
    expect(await changed({ at: looked })).toEqual([old.id]);
    expect(ids(await store.outbox.list({ changedAfter: { at: 0 }, limit: 1 }))).toEqual([next.id]);
    expect(await changed({ at: time.now })).toEqual([]);
    // Of those that changed at one time, each is given once over the pages.
    const more = await store.outbox.enqueue([reply("3", "c"), reply("4", "d")], { lease });
    await store.outbox.claimDue({ lease, limit: 9 });
    for (const { id } of more) await store.outbox.dead(id, lease);
    const [first = "", ...rest] = await changed({ at: looked }, 2);
    const [last = ""] = rest;
    expect([first, last, ...(await changed({ at: time.now, id: last }))]).toEqual([
      old.id,
      ...more.map(({ id }) => id),
    ]);
  });

  test("a limited claim takes the oldest rows and reports that more are due", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const rows = await store.outbox.enqueue([reply("1", "z"), reply("2", "a"), reply("3", "m")], { lease });
    const claim = await store.outbox.claimDue({ lease, limit: 2 });
    expect(ids(claim.rows)).toEqual(ids(rows.slice(0, 2)));
    expect(claim.nextAt).toBe(time.now);
  });

  test("due rows are found after many rows that are being sent", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const rows = Array.from({ length: 250 }, (_, i) => reply(String(i), `a${i}`));
    await store.outbox.enqueue(rows, { lease });
    expect((await store.outbox.claimDue({ lease, limit: 240 })).rows).toHaveLength(240);
    const rest = await store.outbox.claimDue({ lease, limit: 240 });
    expect(rest.rows.map((row) => row.address)).toEqual(rows.slice(240).map((row) => row.address));
    expect(rest.nextAt).toBeUndefined();
  });

  test("a row that an earlier holder was sending is claimed as doubtful", async () => {
    const { store, time } = await open();
    const old = await takeLease(store, "gateway", "home");
    const row = only(
      await store.outbox.enqueue([{ ...reply("x"), expiresAt: time.now + 10 }], { lease: old }),
    );
    await store.outbox.claimDue({ lease: old, limit: 1 });
    const lease = await takeLease(store, "gateway", "home");
    time.now += 20;
    const claim = await store.outbox.claimDue({ lease, limit: 1 });
    // Though its time has passed: it may be out, and only the platform knows.
    expect(claim.rows.map((entry) => [entry.id, entry.doubtful, entry.attempts])).toEqual([
      [row.id, true, 2],
    ]);
    await expect(store.outbox.markSent(row.id, old)).rejects.toMatchObject({ code: "fenced" });
    await store.outbox.markSent(row.id, lease);
  });

  test("a row is inserted as claimed unless others wait for its address", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const claimed = { ...reply("1"), claim: true };
    const first = only(await store.outbox.enqueue([claimed], { lease }));
    expect(first).toMatchObject({ state: "sending", attempts: 1 });
    expect(only(await store.outbox.enqueue([claimed], { lease })).state).toBe("pending");
    const later = only(
      await store.outbox.enqueue([{ ...claimed, address: "b", notBefore: time.now + 5 }], { lease }),
    );
    expect(later.state).toBe("pending");
    expect((await store.outbox.claimDue({ lease, limit: 9 })).rows).toEqual([]);
    await store.outbox.markSent(first.id, lease);
    expect((await store.outbox.claimDue({ lease, limit: 9 })).rows).toHaveLength(1);
  });

  test("a key makes a row unique, and keys derived from a run differ", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const first = only(await store.outbox.enqueue([{ ...reply("1"), key: "call-1" }], { lease }));
    const again = only(await store.outbox.enqueue([{ ...reply("other"), key: "call-1" }], { lease }));
    expect(again).toEqual(first);
    expect(await store.outbox.withKey("call-1")).toEqual(first);
    expect(await store.outbox.withKey("call-2")).toBeUndefined();
    const { run } = await begun(store, lease, ["1"]);
    const one = only(await store.outbox.enqueue([reply("1")], { lease, runId: run.id }));
    const two = only(await store.outbox.enqueue([reply("2")], { lease, runId: run.id }));
    expect(one.key).not.toBe(two.key);
    const wrong: OutboxInsert = { ...reply("1"), key: "no spaces allowed" };
    await expect(store.outbox.enqueue([wrong], { lease })).rejects.toMatchObject({ code: "invalid" });
  });

  test("an expired row is not sent, and an operator can retry or drop it", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const [old, next] = await store.outbox.enqueue(
      [{ ...reply("1"), expiresAt: time.now + 10 }, reply("2")],
      {
        lease,
      },
    );
    if (old === undefined || next === undefined) throw new Error("two rows");
    time.now += 10;
    expect(ids(await store.outbox.expire([old.id, next.id], lease))).toEqual([old.id]);
    expect(ids((await store.outbox.claimDue({ lease, limit: 9 })).rows)).toEqual([next.id]);
    expect(await store.outbox.drop(next.id)).toEqual({ outcome: "refused", state: "sending" });
    expect(await store.outbox.retry(next.id)).toEqual({ outcome: "refused", state: "sending" });
    await store.outbox.markSent(next.id, lease);
    expect(await store.outbox.retry(old.id)).toEqual({ outcome: "applied", state: "expired" });
    expect(ids((await store.outbox.claimDue({ lease, limit: 9 })).rows)).toEqual([old.id]);
    await store.outbox.dead(old.id, lease);
    expect(await store.outbox.drop(old.id)).toMatchObject({ outcome: "applied" });
    expect(await store.outbox.drop(old.id)).toEqual({ outcome: "unknown" });
    expect(await store.outbox.retry("nonsense")).toEqual({ outcome: "unknown" });
    expect(await store.outbox.get(old.id)).toBeUndefined();
    expect(await store.outbox.list()).toEqual([]);
  });

  test("a row expires after some parts were sent, and reports how many", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const insert = { ...reply("1"), partCount: 2, expiresAt: time.now + 10 };
    const [old, next] = await store.outbox.enqueue([insert, reply("2")], { lease });
    if (old === undefined || next === undefined) throw new Error("two rows");
    await store.outbox.claimDue({ lease, limit: 9 });
    const receipt = { part: 0, receipt: { id: "a" } };
    await store.outbox.markPart(old.id, lease, receipt);
    await store.outbox.retryAt(old.id, lease, time.now + 10, "the upload broke off");
    time.now += 10;
    expect(ids(await store.outbox.expire([old.id], lease))).toEqual([old.id]);
    expect(ids((await store.outbox.claimDue({ lease, limit: 9 })).rows)).toEqual([next.id]);
    const error = "time to live passed; 1 of 2 parts are out";
    expect(await store.outbox.list()).toMatchObject([
      { id: old.id, state: "expired", receipts: [receipt], error },
    ]);
    // An operator can have the rest sent after all.
    expect(await store.outbox.retry(old.id)).toEqual({ outcome: "applied", state: "expired" });
    expect(await store.outbox.get(old.id)).toMatchObject({ state: "pending", receipts: [receipt] });
  });

  test("a row that is being sent is not claimed again by its sender after its lease expired unnoticed", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    await store.outbox.enqueue([{ ...reply("1"), claim: true }, reply("2", "other")], { lease });
    const { rows } = await store.outbox.claimDue({ lease, limit: 9 });
    expect(rows.map(({ payload }) => payload)).toEqual([{ text: "2" }]);
    // The process was stopped, or busy, for longer than its lease.
    time.now += 3_600_000;
    expect((await store.outbox.claimDue({ lease, limit: 9 })).rows).toEqual([]);
    const next = await takeLease(store);
    expect((await store.outbox.claimDue({ lease: next, limit: 9 })).rows).toMatchObject([
      { doubtful: true },
      { doubtful: true },
    ]);
  });

  test("messages of an undelivered reply do not stay replied, and the notice is committed with that", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const late = await begun(store, lease, ["late", "later"], "one");
    const refused = await begun(store, lease, ["refused"], "two");
    const alone = await accepted(store, "alone", "three");
    const silent = await accepted(store, "silent", "three");
    const finish = async ({ run, inboxIds }: typeof late, address: string) => {
      const rows = await store.runs.finish({
        runId: run.id,
        lease,
        outcome: "completed",
        inbox: inboxIds.map((id) => ({ id, state: "replied" })),
        outbox: [{ ...reply("re", address), expiresAt: time.now + 10 }],
      });
      return only(rows);
    };
    const old = await finish(late, "a");
    const dead = await finish(refused, "b");
    const [unrun] = await store.outbox.enqueue([{ ...reply("re", "c"), answers: [alone, silent] }], {
      lease,
    });
    await store.inbox.settle(alone, "replied", { rule: "command:whoami" });
    await store.inbox.settle(silent, "silent");
    expect(await store.outbox.answers(old.id)).toEqual(late.inboxIds);
    expect(await store.outbox.answers(unrun?.id ?? "")).toEqual([alone, silent]);
    const state = async (id: InboxId) => {
      const row = await store.inbox.get(id);
      return [row?.state, row?.detail?.rule, row?.detail?.reason];
    };
    const replied = ["replied", undefined, undefined];

    const first = await store.outbox.claimDue({ lease, limit: 9 });
    expect(first.rows).toHaveLength(3);
    await store.outbox.retryAt(old.id, lease, time.now, "503");
    expect(await store.outbox.awaiting(dead.id)).toEqual(refused.inboxIds);
    await store.outbox.dead(dead.id, lease, "too large", reply("sorry", "b"));
    expect(await store.outbox.awaiting(dead.id)).toEqual([]);
    await store.outbox.dead(unrun?.id ?? old.id, lease);
    time.now += 10;
    expect(ids(await store.outbox.overdue())).toEqual([old.id]);
    expect(await store.outbox.awaiting(old.id)).toEqual(late.inboxIds);
    await store.outbox.expire([old.id], lease, reply("too late", "a"));
    const second = await store.outbox.claimDue({ lease, limit: 9 });
    expect(second.rows.map(({ payload }) => payload)).toEqual([{ text: "sorry" }, { text: "too late" }]);
    // Nobody has been told before the notices are sent.
    for (const id of late.inboxIds)
      expect(await state(id)).toEqual(["unreported", "undelivered", "undelivered: time to live passed"]);
    expect(await state(only(refused.inboxIds))).toEqual([
      "unreported",
      "undelivered",
      "undelivered: too large",
    ]);
    for (const { id } of second.rows) await store.outbox.markSent(id, lease);
    for (const id of late.inboxIds)
      expect(await state(id)).toEqual([
        "expired-reported",
        "undelivered",
        "undelivered: time to live passed",
      ]);
    expect(await state(only(refused.inboxIds))).toEqual([
      "failed-reported",
      "undelivered",
      "undelivered: too large",
    ]);
    // There is no notice about this one.
    expect(await state(alone)).toEqual(["unreported", "command:whoami", "undelivered: given up"]);
    expect(await state(silent)).toEqual(["silent", undefined, undefined]);

    for (const id of [old.id, dead.id, unrun?.id ?? ""]) await store.outbox.retry(id);
    for (const id of [...late.inboxIds, ...refused.inboxIds]) expect(await state(id)).toEqual(replied);
    expect(await state(alone)).toEqual(["replied", "command:whoami", undefined]);
    expect(await state(silent)).toEqual(["silent", undefined, undefined]);
    await store.outbox.drop(dead.id);
    expect(await state(only(refused.inboxIds))).toEqual([
      "unreported",
      "undelivered",
      "undelivered: dropped by an operator",
    ]);
  });

  test("a message gets the state of a reply that was given up before the message ended", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const early = await accepted(store, "early", "one");
    const [row] = await store.outbox.enqueue([{ ...reply("re", "a"), answers: [early] }], { lease });
    await store.outbox.claimDue({ lease, limit: 9 });
    if (row !== undefined) await store.outbox.dead(row.id, lease, "no such chat");
    expect((await store.inbox.get(early))?.state).toBe("queued");
    await store.inbox.settle(early, "replied", { rule: "command:whoami" });
    const { state, detail } = (await store.inbox.get(early)) ?? {};
    expect([state, detail?.rule, detail?.reason]).toEqual([
      "unreported",
      "command:whoami",
      "undelivered: no such chat",
    ]);
  });

  test("a failure counts as reported only if its notice was sent, by itself or with a later one", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const failed = await accepted(store, "failed", "one");
    const [notice] = await store.outbox.enqueue([{ ...reply("sorry", "a"), answers: [failed] }], { lease });
    await store.inbox.settle(failed, "failed-reported", { rule: "auth", reason: "401" });
    const state = async () => {
      const { state: at, detail } = (await store.inbox.get(failed)) ?? {};
      return [at, detail?.rule, detail?.reason];
    };
    await store.outbox.claimDue({ lease, limit: 9 });
    expect(await store.outbox.awaiting(notice?.id ?? "")).toEqual([failed]);
    if (notice !== undefined) await store.outbox.dead(notice.id, lease, "no such chat");
    expect(await state()).toEqual(["unreported", "auth", "401"]);
    const [owner] = await store.outbox.enqueue([{ ...reply("owner", "b"), reports: [failed] }], { lease });
    await store.outbox.claimDue({ lease, limit: 9 });
    if (owner !== undefined) await store.outbox.markSent(owner.id, lease);
    expect(await state()).toEqual(["failed-reported", "auth", "401"]);
    // The end of another notice changes nothing.
    const [other] = await store.outbox.enqueue([{ ...reply("other", "c"), reports: [failed] }], { lease });
    await store.outbox.claimDue({ lease, limit: 9 });
    if (other !== undefined) await store.outbox.dead(other.id, lease, "blocked");
    expect(await state()).toEqual(["failed-reported", "auth", "401"]);
    await store.outbox.retry(other?.id ?? "");
    expect(await state()).toEqual(["failed-reported", "auth", "401"]);
  });

  test("a reply of unknown outcome ends together with the notice about it", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const [row] = await store.outbox.enqueue([reply("1", "a")], { lease });
    await store.outbox.claimDue({ lease, limit: 9 });
    if (row !== undefined) await store.outbox.uncertain(row.id, lease, "no response", reply("perhaps", "a"));
    const next = await store.outbox.claimDue({ lease, limit: 9 });
    expect(next.rows.map(({ payload }) => payload)).toEqual([{ text: "perhaps" }]);
  });
};
