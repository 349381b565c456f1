import assert from "node:assert/strict";
import type { Check } from "./under-test.ts";
import { accept, begin, eventOf, LEASE_MS, queuedIn, sessionOf, take, waiting } from "./under-test.ts";

export const inboxChecks: Readonly<Record<string, Check>> = {
  "takes an event once, by the platform's id of the event and by that of the message": async ({ store }) => {
    const first = await store.inbox.accept(eventOf("a", "s"));
    assert.equal(first.outcome, "accepted");
    assert.equal((await store.inbox.accept(eventOf("a", "s"))).outcome, "duplicate");
    const again = await store.inbox.accept({ ...eventOf("a", "s"), eventId: "another" });
    assert.equal(again.outcome, "duplicate");
    assert.equal((await store.inbox.accept({ ...eventOf("a", "s"), account: "other" })).outcome, "accepted");
    const ahead = await store.inbox.acceptAhead(eventOf("b", "s"));
    assert.equal(ahead.result.outcome, "accepted");
    await ahead.onDisk;
    assert.equal((await store.inbox.acceptAhead(eventOf("b", "s"))).result.outcome, "duplicate");
  },

  "takes an event once, however many bring it at the same time": async ({ store }) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.inbox.accept(eventOf("a", "s"))));
    assert.equal(answers.filter(({ outcome }) => outcome === "accepted").length, 1);
  },

  "keeps the messages of a session in their order": async ({ store }) => {
    for (const id of ["a", "b", "c"]) await accept(store, id, "s");
    await accept(store, "elsewhere", "t");
    const rows = await queuedIn(store, "s");
    assert.deepEqual(
      rows.map(({ payload }) => payload),
      ["a", "b", "c"].map((text) => ({ text })),
    );
    assert.ok(rows.every(({ seq }, index) => index === 0 || seq > (rows[index - 1]?.seq ?? seq)));
  },

  "gives everything that has no end yet": async ({ store }) => {
    const lease = await take(store);
    const ids = [(await waiting(store, "a")).id, (await waiting(store, "b", "s")).id];
    ids.push(...(await begin(store, lease, "t", ["c"])).inboxIds);
    await store.inbox.settle((await waiting(store, "d")).id, "silent");
    const unfinished = new Map<string, unknown>();
    for await (const { id, payload } of store.inbox.unfinished()) unfinished.set(id, payload);
    assert.deepEqual(
      ids.map((id) => unfinished.get(id)),
      ["a", "b", "c"].map((text) => ({ text })),
    );
    assert.equal(unfinished.size, 3);
  },

  "routes a message once, with what was decided about it": async ({ store }) => {
    const { id } = await waiting(store, "a");
    await store.inbox.route(id, { agentId: "coder", sessionKey: "s" }, { text: "decided" });
    const [row] = await queuedIn(store, "s");
    assert.deepEqual([row?.id, row?.payload], [id, { text: "decided" }]);
    await assert.rejects(store.inbox.route(id, { agentId: "coder", sessionKey: "t" }), { code: "conflict" });
  },

  "gives what nobody works on to whoever asks, once and in its order": async ({ store }) => {
    const lease = await take(store);
    const ids = [await waiting(store, "a"), await waiting(store, "b", "s"), await waiting(store, "c")];
    const ended = await waiting(store, "d", "s");
    await store.inbox.settle(ended.id, "silent");
    const due = await store.inbox.claimDue(lease);
    assert.deepEqual(
      due.map((row) => [row.id, row.state]),
      ids.map(({ id, state }) => [id, state]),
    );
    assert.deepEqual(await store.inbox.claimDue(lease), []);
  },

  "leaves a message to the holder of its lease for as long as that is good": async (it) => {
    const { store } = it;
    const one = await take(store, "one", "node one");
    const two = await take(store, "two", "node two");
    const { id } = await waiting(store, "a", "s", one);
    assert.deepEqual(await store.inbox.claimDue(two), []);
    assert.deepEqual(await store.inbox.claimDue(one), []);
    it.advance(LEASE_MS);
    // Its own messages are under way at a holder that was late.
    assert.deepEqual(await store.inbox.claimDue(one), []);
    const [renewed] = await store.leases.renew([two], LEASE_MS);
    assert.ok(renewed !== undefined);
    assert.deepEqual(
      (await store.inbox.claimDue(renewed)).map((row) => row.id),
      [id],
    );
    await assert.rejects(store.inbox.claimDue({ ...one, epoch: one.epoch - 1 }), { code: "fenced" });
  },

  "gives back what a holder has left that comes back": async ({ store }) => {
    const before = await take(store);
    const { id } = await waiting(store, "a", "s", before);
    const after = await take(store);
    assert.deepEqual(
      (await store.inbox.claimDue(after)).map((row) => row.id),
      [id],
    );
  },

  "gives a message one end": async ({ store }) => {
    const id = await accept(store, "a", "s");
    assert.equal(await store.inbox.settle(id, "ignored", { rule: "a rule" }), true);
    assert.equal(await store.inbox.settle(id, "replied"), false);
    const row = await store.inbox.get(id);
    assert.deepEqual([row?.state, row?.detail?.rule], ["ignored", "a rule"]);
    assert.deepEqual(await queuedIn(store, "s"), []);
  },

  "changes and withdraws what no run has yet": async ({ store }) => {
    const edited = await accept(store, "a", "s");
    const name = { channel: "plain", account: "main", messageId: "message-a" };
    assert.equal((await store.inbox.revise(name, { text: "better" })).outcome, "applied");
    const row = await store.inbox.get(edited);
    assert.deepEqual([row?.payload, row?.revision], [{ text: "better" }, 1]);
    assert.equal((await store.inbox.withdraw(name)).outcome, "applied");
    assert.equal((await store.inbox.withdraw(name)).outcome, "late");
    assert.equal((await store.inbox.get(edited))?.state, "ignored");
    assert.equal((await store.inbox.revise({ ...name, messageId: "none" }, {})).outcome, "unknown");
  },

  "ends a message that was withdrawn in mid-run with that run, as ignored": async ({ store }) => {
    const lease = await take(store);
    const { run, inboxIds } = await begin(store, lease, "s", ["a"]);
    const [id] = inboxIds;
    assert.ok(id !== undefined);
    assert.equal((await store.inbox.revise({ ...eventOf("a"), messageId: "message-a" }, {})).outcome, "late");
    assert.equal((await store.inbox.withdraw(id)).outcome, "applied");
    await store.runs.finish({
      runId: run.id,
      lease,
      outcome: "completed",
      inbox: [{ id, state: "replied" }],
    });
    assert.equal((await store.inbox.get(id))?.state, "ignored");
  },

  "finds a message by the platform's id": async ({ store }) => {
    await store.sessions.ensure(sessionOf("s"));
    const id = await accept(store, "a", "s");
    assert.equal((await store.inbox.find({ messageId: "message-a" }))?.id, id);
    assert.equal((await store.inbox.find({ channel: "other", messageId: "message-a" }))?.id, undefined);
  },
};
