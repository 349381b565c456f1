import assert from "node:assert/strict";
import type { Check } from "./under-test.ts";
import { accept, begin, eventOf, sessionOf, take } from "./under-test.ts";

export function inboxSuite(check: Check): void {
  check(
    "takes an event once, by the platform's id of the event and by that of the message",
    async ({ store }) => {
      const first = await store.inbox.accept(eventOf("a", "s"));
      assert.equal(first.outcome, "accepted");
      assert.equal((await store.inbox.accept(eventOf("a", "s"))).outcome, "duplicate");
      const again = await store.inbox.accept({ ...eventOf("a", "s"), eventId: "another" });
      assert.equal(again.outcome, "duplicate");
      assert.equal(
        (await store.inbox.accept({ ...eventOf("a", "s"), account: "other" })).outcome,
        "accepted",
      );
    },
  );

  check("takes an event once, however many bring it at the same time", async ({ store }) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.inbox.accept(eventOf("a", "s"))));
    assert.equal(answers.filter(({ outcome }) => outcome === "accepted").length, 1);
  });

  check("keeps the messages of a session in their order", async ({ store }) => {
    for (const id of ["a", "b", "c"]) await accept(store, id, "s");
    await accept(store, "elsewhere", "t");
    const rows = await store.inbox.queued("s");
    assert.deepEqual(
      rows.map(({ payload }) => payload),
      ["a", "b", "c"].map((text) => ({ text })),
    );
    assert.ok(rows.every(({ seq }, index) => index === 0 || seq > (rows[index - 1]?.seq ?? seq)));
  });

  check("tells what waits, where nobody has routed it and where a session has it", async ({ store }) => {
    const unrouted = await store.inbox.accept(eventOf("a"));
    assert.ok(unrouted.outcome === "accepted");
    assert.deepEqual(
      (await store.inbox.unrouted()).map(({ id }) => id),
      [unrouted.id],
    );
    await store.inbox.route(unrouted.id, { agentId: "coder", sessionKey: "s" });
    assert.deepEqual(await store.inbox.unrouted(), []);
    const [waiting] = await store.inbox.pendingSessions();
    assert.deepEqual([waiting?.sessionKey, waiting?.queued], ["s", 1]);
    await assert.rejects(store.inbox.route(unrouted.id, { agentId: "coder", sessionKey: "t" }), {
      code: "conflict",
    });
  });

  check("gives a message one end", async ({ store }) => {
    const id = await accept(store, "a", "s");
    assert.equal(await store.inbox.settle(id, "ignored", { rule: "a rule" }), true);
    assert.equal(await store.inbox.settle(id, "replied"), false);
    const row = await store.inbox.get(id);
    assert.deepEqual([row?.state, row?.detail?.rule], ["ignored", "a rule"]);
    assert.deepEqual(await store.inbox.queued("s"), []);
  });

  check("changes and withdraws what no run has yet", async ({ store }) => {
    const edited = await accept(store, "a", "s");
    const name = { channel: "plain", account: "main", messageId: "message-a" };
    assert.equal((await store.inbox.revise(name, { text: "better" })).outcome, "applied");
    const row = await store.inbox.get(edited);
    assert.deepEqual([row?.payload, row?.revision], [{ text: "better" }, 1]);
    assert.equal((await store.inbox.withdraw(name)).outcome, "applied");
    assert.equal((await store.inbox.withdraw(name)).outcome, "late");
    assert.equal((await store.inbox.get(edited))?.state, "ignored");
    assert.equal((await store.inbox.revise({ ...name, messageId: "none" }, {})).outcome, "unknown");
  });

  check("ends a message that was withdrawn in mid-run with that run, as ignored", async ({ store }) => {
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
  });

  check("finds a message by the platform's id", async ({ store }) => {
    await store.sessions.ensure(sessionOf("s"));
    const id = await accept(store, "a", "s");
    assert.equal((await store.inbox.find({ messageId: "message-a" }))?.id, id);
    assert.equal((await store.inbox.find({ channel: "other", messageId: "message-a" }))?.id, undefined);
  });
}
