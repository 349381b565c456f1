import { parseId } from "../../ids.ts";
import type { InboxId } from "../../types/common.ts";
import type { Suite } from "./suite.ts";
import { accepted, answered, begun, event, queuedIn, seed, takeLease } from "./support.ts";

export const inboxSuite: Suite = ({ test, expect, open }) => {
  test("an event is accepted once, by its event id and by its message id", async () => {
    const { store } = await open();
    const first = await store.inbox.accept(event("1"));
    if (first.outcome !== "accepted") throw new Error(first.outcome);
    expect(first).toMatchObject({ state: "accepted", seq: 1 });
    const duplicate = { outcome: "duplicate", id: first.id, seq: 1, state: "accepted" };
    expect(await store.inbox.accept(event("1"))).toEqual(duplicate);
    expect(await store.inbox.accept({ ...event("1"), eventId: "another" })).toEqual(duplicate);
    expect(await store.inbox.accept({ ...event("1"), messageId: "another" })).toEqual(duplicate);
    expect(await store.inbox.accept({ ...event("1"), account: "second" })).toMatchObject({
      outcome: "accepted",
    });
    expect(await store.inbox.accept({ ...event("1"), channel: "slack" })).toMatchObject({
      outcome: "accepted",
    });
  });

  test("an edit of a message is not a duplicate of it", async () => {
    const { store } = await open();
    await store.inbox.accept(event("1"));
    const edit = { ...event("1"), eventId: "edit", kind: "edited" };
    expect(await store.inbox.accept(edit)).toMatchObject({ outcome: "accepted" });
    expect(await store.inbox.accept(edit)).toMatchObject({ outcome: "duplicate" });
  });

  test("two deliveries in one commit create one row", async () => {
    const { store } = await open();
    const answers = await Promise.all([1, 2, 3].map(() => store.inbox.accept(event("1"))));
    expect(answers.map((answer) => answer.outcome)).toEqual(["accepted", "duplicate", "duplicate"]);
  });

  test("an event beyond the limit of unfinished messages is refused without a write", async () => {
    const { store } = await open({ limits: { inbox: 2 } });
    const one = await accepted(store, "1");
    await accepted(store, "2");
    expect(await store.inbox.accept(event("3"))).toEqual({ outcome: "full", unfinished: 2, limit: 2 });
    expect(await store.inbox.accept(event("1"))).toMatchObject({ outcome: "duplicate" });
    await store.inbox.settle(one, "ignored", { rule: "mention" });
    expect(await store.inbox.accept(event("3"))).toMatchObject({ outcome: "accepted" });
  });

  test("a message is queued in its session until a rule or run ends it, once", async () => {
    const { store, time } = await open();
    const answer = await store.inbox.accept(event("1"));
    if (answer.outcome !== "accepted") throw new Error(answer.outcome);
    await store.inbox.route(answer.id, { agentId: "coder", sessionKey: "s" }, { text: "1, decided" });
    await expect(store.inbox.route(answer.id, { agentId: "coder", sessionKey: "t" })).rejects.toMatchObject({
      code: "conflict",
    });
    await accepted(store, "2", "s");
    expect((await queuedIn(store, "s")).map((row) => row.payload)).toEqual([
      { text: "1, decided" },
      { text: "2" },
    ]);

    time.now += 5;
    expect(
      await store.inbox.settle(answer.id, "ignored", { rule: "mention", reason: "Not addressed." }),
    ).toBe(true);
    expect(await store.inbox.settle(answer.id, "replied")).toBe(false);
    expect(await store.inbox.get(answer.id)).toEqual({
      ...event("1"),
      payload: { text: "1, decided" },
      id: answer.id,
      seq: 1,
      state: "ignored",
      detail: { rule: "mention", reason: "Not addressed." },
      route: { agentId: "coder", sessionKey: "s" },
      receivedAt: time.now - 5,
      settledAt: time.now,
      revision: 0,
    });
  });

  test("an edit of a waiting message is refused to a holder that has lost the message", async () => {
    const { store, time } = await open();
    const lost = await takeLease(store, "lost");
    const answer = await store.inbox.accept({ ...event("1", "s"), lease: lost });
    if (answer.outcome !== "accepted") throw new Error(answer.outcome);
    const { id } = answer;
    expect(await store.inbox.revise(id, { text: "better" }, lost)).toMatchObject({ outcome: "applied" });
    time.now += 3_600_000;
    const lease = await takeLease(store, "other");
    expect(await store.inbox.claimDue(lease)).toMatchObject([{ id, payload: { text: "better" } }]);
    await expect(store.inbox.revise(id, { text: "late" }, lost)).rejects.toMatchObject({ code: "fenced" });
    expect(await store.inbox.get(id)).toMatchObject({ payload: { text: "better" }, revision: 1 });
    expect(await store.inbox.revise(id, { text: "best" }, lease)).toMatchObject({ outcome: "applied" });
  });

  test("an edit or deletion applies until a run takes the message", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const names = { channel: "feishu", account: "main" };
    const id = await accepted(store, "1");
    const later = { text: "better" };
    expect(await store.inbox.revise({ ...names, messageId: "om-1" }, later)).toEqual({
      outcome: "applied",
      id,
      state: "queued",
    });
    expect(await store.inbox.get(id)).toMatchObject({ payload: { text: "better" }, revision: 1 });
    expect(await store.inbox.revise(id, { text: "best" })).toMatchObject({ outcome: "applied", id });
    expect(await store.inbox.findEvent({ ...names, eventId: event("1").eventId })).toMatchObject({
      id,
      payload: { text: "best" },
    });
    expect(await store.inbox.findEvent({ ...names, eventId: "unknown" })).toBeUndefined();
    expect(
      await store.inbox.findEvent({ channel: "slack", account: "main", eventId: event("1").eventId }),
    ).toBeUndefined();
    expect(await store.inbox.get(id)).toMatchObject({ payload: { text: "best" }, revision: 2 });
    expect(await store.inbox.withdraw({ ...names, messageId: "om-1" })).toMatchObject({ state: "ignored" });
    expect(await store.inbox.get(id)).toMatchObject({ detail: { rule: "withdrawn" } });
    expect(await store.inbox.revise({ ...names, messageId: "om-1" }, later)).toMatchObject({
      outcome: "late",
    });
    expect(await store.inbox.revise({ ...names, messageId: "om-9" }, later)).toEqual({ outcome: "unknown" });

    const { run, inboxIds } = await begun(store, lease, ["2", "3"]);
    const [second, third] = inboxIds;
    if (second === undefined || third === undefined) throw new Error("two messages");
    expect(await store.inbox.revise({ ...names, messageId: "om-2" }, later)).toMatchObject({
      outcome: "late",
    });
    const detail = { rule: "deleted", reason: "deleted on the platform" };
    const taken = { id: second, state: "running" };
    expect(await store.inbox.withdraw({ ...names, messageId: "om-2" }, detail)).toEqual({
      ...taken,
      outcome: "applied",
    });
    expect(await store.inbox.withdraw(second, detail)).toEqual({ ...taken, outcome: "late" });
    expect((await store.runs.inspect(run.id))?.inbox.map((row) => row.detail)).toEqual([detail, undefined]);
    // Its run has to end, and whatever it says of this message is not its end.
    const end = { runId: run.id, lease, outcome: "completed" } as const;
    await expect(
      store.runs.finish({ ...end, inbox: [{ id: third, state: "replied" }] }),
    ).rejects.toMatchObject({ code: "conflict" });
    await store.runs.finish({
      ...end,
      inbox: [
        { id: second, state: "queued" },
        { id: third, state: "replied", detail: { rule: "other" } },
      ],
    });
    expect(await store.inbox.get(second)).toMatchObject({ state: "ignored", detail });
    expect(await store.inbox.get(third)).toMatchObject({ state: "replied", detail: { rule: "other" } });
    expect(await store.inbox.withdraw(third)).toMatchObject({ outcome: "late", state: "replied" });
    const fourth = await accepted(store, "4");
    expect(await store.inbox.withdraw(fourth)).toMatchObject({ outcome: "applied", state: "ignored" });
  });

  test("messages are found by id, by the platform's id, and by state", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await answered(store, lease, "1");
    const id = await accepted(store, "2");
    expect((await store.inbox.find({ messageId: "om-2" }))?.id).toBe(id);
    expect((await store.inbox.find({ channel: "feishu", account: "main", messageId: "om-2" }))?.id).toBe(id);
    expect(await store.inbox.find({ channel: "slack", messageId: "om-2" })).toBeUndefined();
    const same = await store.inbox.accept({ ...event("2"), channel: "slack" });
    if (same.outcome !== "accepted") throw new Error(same.outcome);
    expect((await store.inbox.find({ messageId: "om-2" }))?.id).toBe(same.id);
    expect((await store.inbox.find({ channel: "feishu", messageId: "om-2" }))?.id).toBe(id);
    expect((await store.inbox.find({ account: "main", messageId: "om-1" }))?.eventId).toBe("ev-1");
    expect(await store.inbox.find({ account: "other", messageId: "om-1" })).toBeUndefined();
    await store.inbox.settle(same.id, "ignored");
    expect((await store.inbox.list()).map((row) => row.state)).toEqual(["ignored", "queued", "replied"]);
    expect((await store.inbox.list({ state: "replied" })).map((row) => row.eventId)).toEqual(["ev-1"]);
    expect((await store.inbox.list({ before: id })).map((row) => row.eventId)).toEqual(["ev-1"]);
    expect(parseId(id)).toBe(id);
    expect(parseId("nonsense")).toBeUndefined();
    const stranger = parseId<InboxId>(`${id.slice(0, 17)}${id.at(17) === "Z" ? "Y" : "Z"}${id.slice(18)}`);
    if (stranger === undefined) throw new Error("no id");
    expect(await store.inbox.get(stranger)).toBeUndefined();
  });

  test("a value that is not JSON is rejected before any write", async () => {
    const { store } = await open();
    await expect(store.inbox.accept({ ...event("1"), payload: undefined })).rejects.toMatchObject({
      code: "invalid",
    });
    await expect(store.inbox.accept({ ...event("1"), payload: 1n })).rejects.toMatchObject({
      code: "invalid",
    });
    expect(await store.inbox.accept(event("1"))).toMatchObject({ outcome: "accepted" });
  });

  test("the messages of a session keep the order in which they were accepted", async () => {
    const { store } = await open();
    const ids = await Promise.all(
      Array.from({ length: 100 }, (_, i) => accepted(store, String(i), seed().key)),
    );
    const rows = await queuedIn(store, seed().key);
    expect(rows.map((row) => row.id)).toEqual(ids);
    expect(rows.every(({ seq }, index) => index === 0 || seq > (rows[index - 1]?.seq ?? seq))).toBe(true);
  });
};
