import type { InboxRow } from "../types/inbox.ts";
import {
  ACCOUNT,
  accept,
  acceptWaiting,
  acquire,
  begin,
  type Checks,
  expectDefined,
  expectEqual,
  expectRejection,
  getIds,
  getQueued,
  LEASE_MS,
  toEvent,
  toSeed,
} from "./under-test.ts";

const toTexts = (texts: readonly string[]) => texts.map((text) => ({ text }));
const getPayloads = (rows: readonly InboxRow[]) => rows.map(({ payload }) => payload);

export const inboxChecks: Checks = {
  "accepts an event once, by the ids of the event and of the message": async ({ store: { inbox } }) => {
    const outcome = async (event: ReturnType<typeof toEvent>) => (await inbox.accept(event)).outcome;
    const event = toEvent("a", "s");
    expectEqual(await outcome(event), "accepted", "A new event was not accepted.");
    expectEqual(await outcome(event), "duplicate", "A redelivered event was accepted again.");
    const sameMessage = await outcome({ ...event, eventId: "another" });
    expectEqual(sameMessage, "duplicate", "A message was accepted again under another event id.");
    const otherAccount = await outcome({ ...event, account: "other" });
    expectEqual(otherAccount, "accepted", "The same ids on another account count as a duplicate.");
    const ahead = await inbox.acceptAhead(toEvent("b", "s"));
    expectEqual(ahead.result.outcome, "accepted", "acceptAhead did not accept a new event.");
    await ahead.onDisk;
    const again = await inbox.acceptAhead(toEvent("b", "s"));
    expectEqual(again.result.outcome, "duplicate", "acceptAhead accepted a redelivered event.");
  },

  "reports the first delivery of a duplicate": async ({ store: { inbox } }) => {
    const first = await inbox.accept(toEvent("a", "s"));
    const again = await inbox.accept(toEvent("a", "s"));
    const ids = [first, again].map((accepted) => "id" in accepted && accepted.id);
    expectEqual(ids[1], ids[0], "A duplicate does not name the row of the first delivery.");
  },

  "accepts an event once, however many deliveries are concurrent": async ({ store: { inbox } }) => {
    const accepted = await Promise.all(Array.from({ length: 8 }, () => inbox.accept(toEvent("a", "s"))));
    const count = accepted.filter(({ outcome }) => outcome === "accepted").length;
    expectEqual(count, 1, "Concurrent deliveries of one event were not accepted exactly once.");
  },

  "keeps the messages of a session in order": async ({ store }) => {
    for (const id of ["a", "b", "c"]) await accept(store, id, "s");
    await accept(store, "elsewhere", "t");
    const rows = await getQueued(store, "s");
    expectEqual(getPayloads(rows), toTexts(["a", "b", "c"]), "The messages or their order are wrong.");
    const isRising = rows.every(({ seq }, index) => index === 0 || seq > (rows[index - 1]?.seq ?? seq));
    expectEqual(isRising, true, "The numbers of the messages do not rise.");
  },

  "iterates over every unfinished message": async ({ store }) => {
    const lease = await acquire(store);
    const ids = [(await acceptWaiting(store, "a")).id, (await acceptWaiting(store, "b", "s")).id];
    ids.push(...(await begin(store, lease, "t", ["c"])).inboxIds);
    await store.inbox.settle((await acceptWaiting(store, "d")).id, "silent");
    const unfinished = new Map<string, unknown>();
    for await (const { id, payload } of store.inbox.unfinished()) unfinished.set(id, payload);
    const payloads = ids.map((id) => unfinished.get(id));
    expectEqual(payloads, toTexts(["a", "b", "c"]), "An accepted, queued or running message is missing.");
    expectEqual(unfinished.size, 3, "A finished message was returned.");
  },

  "routes a message once and replaces its payload": async ({ store }) => {
    const { id } = await acceptWaiting(store, "a");
    await store.inbox.route(id, { agentId: "coder", sessionKey: "s" }, { text: "decided" });
    const [row] = await getQueued(store, "s");
    expectEqual([row?.id, row?.payload], [id, { text: "decided" }], "The message was not routed.");
    const again = store.inbox.route(id, { agentId: "coder", sessionKey: "t" });
    await expectRejection(again, "conflict", "A message was routed twice.");
  },

  "hands over waiting messages once, in order": async ({ store }) => {
    const lease = await acquire(store);
    const waiting = [
      await acceptWaiting(store, "a"),
      await acceptWaiting(store, "b", "s"),
      await acceptWaiting(store, "c"),
    ];
    await store.inbox.settle((await acceptWaiting(store, "d", "s")).id, "silent");
    const due = (await store.inbox.claimDue(lease)).map(({ id, state }) => ({ id, state }));
    expectEqual(due, waiting, "claimDue did not return the waiting messages in order.");
    expectEqual(await store.inbox.claimDue(lease), [], "claimDue returned messages twice.");
  },

  "leaves a message to its lease holder while the lease is valid": async ({ store, advance }) => {
    const one = await acquire(store, "one", "node one");
    const two = await acquire(store, "two", "node two");
    const { id } = await acceptWaiting(store, "a", "s", one);
    expectEqual(await store.inbox.claimDue(two), [], "A message was taken from a valid lease.");
    expectEqual(await store.inbox.claimDue(one), [], "A holder claimed the messages it works on.");
    advance(LEASE_MS);
    const own = await store.inbox.claimDue(one);
    expectEqual(own, [], "A holder claimed its own messages after its lease expired.");
    const [renewed] = await store.leases.renew([two], LEASE_MS);
    const due = await store.inbox.claimDue(expectDefined(renewed, "The lease was not renewed."));
    expectEqual(getIds(due), [id], "A message of an expired lease was not handed over.");
    const stale = store.inbox.claimDue({ ...one, epoch: one.epoch - 1 });
    await expectRejection(stale, "fenced", "A holder claimed messages under an old epoch.");
  },

  "returns the messages of an earlier process to the same holder": async ({ store }) => {
    const before = await acquire(store);
    const { id } = await acceptWaiting(store, "a", "s", before);
    const due = await store.inbox.claimDue(await acquire(store));
    expectEqual(getIds(due), [id], "A restarted holder did not get its messages back.");
  },

  "claims only messages that the caller accepts by their route": async ({ store, advance }) => {
    const one = await acquire(store, "one", "node one");
    const two = await acquire(store, "two", "node two");
    const own = await acceptWaiting(store, "a", "s");
    const foreign = await acceptWaiting(store, "b", "t");
    const undecided = await acceptWaiting(store, "c");
    const held = await acceptWaiting(store, "d", "u", one);
    const claim = async (lease: typeof one, sessionKey?: string) =>
      getIds(await store.inbox.claimDue(lease, (route) => route?.sessionKey === sessionKey));
    expectEqual(await claim(two, "s"), [own.id], "A message was claimed against its route.");
    expectEqual(await claim(two), [undecided.id], "A message without a route was not claimed.");
    expectEqual(await claim(two, "t"), [foreign.id], "A message that was left over was not claimed later.");
    advance(LEASE_MS);
    await store.leases.renew([two], LEASE_MS);
    expectEqual(await claim(two, "s"), [], "A message of a lost lease was claimed against its route.");
    expectEqual(await claim(two, "u"), [held.id], "A message of a lost lease was not claimed.");
  },

  "gives a released message to the next that claims it": async ({ store }) => {
    const one = await acquire(store, "one", "node one");
    const two = await acquire(store, "two", "node two");
    const { id } = await acceptWaiting(store, "a", "s", one);
    await store.inbox.release([id], two);
    expectEqual(await store.inbox.claimDue(two), [], "A message was released under another lease.");
    await store.inbox.release([id], one);
    expectEqual(getIds(await store.inbox.claimDue(two)), [id], "A released message was not claimed.");
  },

  "rejects a run of a holder whose message another holder has claimed": async ({ store, advance }) => {
    const one = await acquire(store, "one", "node one");
    const two = await acquire(store, "two", "node two");
    const { id } = await acceptWaiting(store, "a", "s", one);
    advance(LEASE_MS);
    await store.leases.renew([two], LEASE_MS);
    await store.inbox.claimDue(two);
    await store.leases.renew([one], LEASE_MS);
    const start = (lease: typeof one) =>
      store.runs.begin({ session: toSeed("s"), lease, inboxIds: [id], userMessages: [{ user: "a" }] });
    await expectRejection(start(one), "fenced", "A run began with a message of another holder.");
    expectEqual((await start(two)).outcome, "started", "The holder of a message could not begin its run.");
  },

  "gives a message one final state": async ({ store }) => {
    const id = await accept(store, "a", "s");
    const detail = { rule: "a rule" };
    expectEqual(await store.inbox.settle(id, "ignored", detail), true, "A queued message was not settled.");
    expectEqual(await store.inbox.settle(id, "replied"), false, "A message was settled twice.");
    const row = await store.inbox.get(id);
    expectEqual([row?.state, row?.detail], ["ignored", detail], "The second settlement replaced the first.");
    expectEqual(await getQueued(store, "s"), [], "A settled message is still queued.");
  },

  "edits and withdraws a message that no run has taken": async ({ store }) => {
    const edited = await accept(store, "a", "s");
    const message = { ...ACCOUNT, messageId: "message-a" };
    const revised = await store.inbox.revise(message, { text: "better" });
    expectEqual(revised.outcome, "applied", "A queued message could not be edited.");
    const row = await store.inbox.get(edited);
    expectEqual([row?.payload, row?.revision], [{ text: "better" }, 1], "The edit was not stored.");
    const withdraw = async () => (await store.inbox.withdraw(message)).outcome;
    expectEqual(await withdraw(), "applied", "A queued message could not be withdrawn.");
    expectEqual(await withdraw(), "late", "A message was withdrawn twice.");
    const state = (await store.inbox.get(edited))?.state;
    expectEqual(state, "ignored", "A withdrawn message did not end as ignored.");
    const unknown = await store.inbox.revise({ ...message, messageId: "none" }, {});
    expectEqual(unknown.outcome, "unknown", "A message that does not exist was edited.");
  },

  "ends a message withdrawn during a run as ignored": async ({ store }) => {
    const lease = await acquire(store);
    const { run, inboxIds } = await begin(store, lease, "s", ["a"]);
    const id = expectDefined(inboxIds[0], "The run has no message.");
    const revised = await store.inbox.revise({ ...ACCOUNT, messageId: "message-a" }, {});
    expectEqual(revised.outcome, "late", "A message was edited while a run answers it.");
    const withdrawn = await store.inbox.withdraw(id);
    expectEqual(withdrawn.outcome, "applied", "A message could not be withdrawn during its run.");
    const inbox = [{ id, state: "replied" }] as const;
    await store.runs.finish({ runId: run.id, lease, outcome: "completed", inbox });
    const state = (await store.inbox.get(id))?.state;
    expectEqual(state, "ignored", "The end of the run replaced the withdrawal.");
  },

  "finds a message by the platform's id": async ({ store }) => {
    await store.sessions.ensure(toSeed("s"));
    const id = await accept(store, "a", "s");
    const found = await store.inbox.find({ messageId: "message-a" });
    expectEqual(found?.id, id, "A message was not found by its id alone.");
    const elsewhere = await store.inbox.find({ channel: "other", messageId: "message-a" });
    expectEqual(elsewhere?.id, undefined, "A message was found on another channel.");
  },
};
