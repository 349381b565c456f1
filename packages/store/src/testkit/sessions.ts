import assert from "node:assert/strict";
import type { SessionMessage } from "../types/sessions.ts";
import type { Check } from "./under-test.ts";
import { answer, begin, sessionOf, take } from "./under-test.ts";

const said = (rows: readonly SessionMessage[]) => rows.map(({ message }) => message);

export const sessionChecks: Readonly<Record<string, Check>> = {
  "is made once, and patched by field": async ({ store }) => {
    await store.sessions.ensure(sessionOf("s"));
    await store.sessions.patch("s", { title: "A title", model: "m", data: { a: 1 } });
    const patched = await store.sessions.patch("s", { model: null });
    assert.deepEqual([patched.title, patched.model, patched.data], ["A title", undefined, { a: 1 }]);
    assert.deepEqual(await store.sessions.ensure(sessionOf("s")), patched);
    await assert.rejects(store.sessions.patch("none", {}), { code: "not_found" });
  },

  "has its messages in order, the newest where there is a limit": async ({ store }) => {
    const lease = await take(store);
    await store.sessions.ensure(sessionOf("s"));
    await store.sessions.append("s", [{ n: 1 }, { n: 2 }, { n: 3 }], lease);
    assert.deepEqual(said(await store.sessions.history("s")), [{ n: 1 }, { n: 2 }, { n: 3 }]);
    assert.deepEqual(said(await store.sessions.history("s", { limit: 2 })), [{ n: 2 }, { n: 3 }]);
    assert.deepEqual(said(await store.sessions.transcript("s", { before: 3, limit: 1 })), [{ n: 2 }]);
    assert.deepEqual(said(await store.sessions.transcript("s", { after: 1, before: 3 })), [{ n: 2 }]);
    assert.deepEqual(await store.sessions.history("none"), []);
  },

  "begins with its summary once it is compacted, and keeps everything for people": async ({ store }) => {
    const lease = await take(store);
    await store.sessions.ensure(sessionOf("s"));
    await store.sessions.append("s", [{ n: 1 }, { n: 2 }, { n: 3 }], lease);
    const after = await store.sessions.compact("s", { summary: { sum: 2 }, upTo: 2, lease });
    assert.equal(after.messageCount, 2);
    assert.deepEqual(said(await store.sessions.history("s")), [{ sum: 2 }, { n: 3 }]);
    assert.equal((await store.sessions.transcript("s")).length, 4);
    await assert.rejects(store.sessions.compact("s", { summary: {}, upTo: 1, lease }), {
      code: "conflict",
    });
  },

  "is empty after a reset, and keeps everything for people": async ({ store }) => {
    const lease = await take(store);
    await answer(store, lease, "s", "a");
    const reset = await store.sessions.reset("s", lease);
    assert.deepEqual([reset.generation, reset.messageCount], [1, 0]);
    assert.deepEqual(await store.sessions.history("s"), []);
    await answer(store, lease, "s", "b");
    assert.equal((await store.sessions.history("s")).length, 2);
    assert.equal((await store.sessions.transcript("s")).length, 4);
  },

  "is neither reset nor removed nor written by others while a run has it": async ({ store }) => {
    const lease = await take(store);
    await begin(store, lease, "s", ["a"]);
    const busy = { code: "busy" };
    await assert.rejects(store.sessions.reset("s", lease), busy);
    await assert.rejects(store.sessions.remove("s", lease), busy);
    const other = await take(store, "two", "elsewhere");
    await assert.rejects(store.sessions.append("s", [{ n: 1 }], other), busy);
    await store.sessions.append("s", [{ n: 1 }], lease);
    assert.equal((await store.sessions.history("s")).length, 2);
  },

  "goes with all of its messages": async ({ store }) => {
    const lease = await take(store);
    await answer(store, lease, "s", "a");
    assert.equal(await store.sessions.remove("s", lease), true);
    assert.equal(await store.sessions.remove("s", lease), false);
    await store.sessions.ensure(sessionOf("s"));
    assert.deepEqual(await store.sessions.transcript("s"), []);
  },

  "is listed by its latest activity, by key, agent, channel and peer": async ({ store, advance }) => {
    const lease = await take(store);
    for (const key of ["s", "t", "u"]) {
      advance(20_000);
      await store.sessions.ensure(sessionOf(key));
    }
    advance(20_000);
    await store.sessions.append("s", [{ n: 1 }], lease);
    const keys = async (filter?: Parameters<typeof store.sessions.list>[0]) =>
      (await store.sessions.list(filter)).map(({ key }) => key);
    assert.deepEqual(await keys(), ["s", "u", "t"]);
    assert.deepEqual(await keys({ limit: 1 }), ["s"]);
    const [newest] = await store.sessions.list({ limit: 1 });
    assert.ok(newest);
    assert.deepEqual(await keys({ behind: newest }), ["u", "t"]);
    assert.deepEqual(await keys({ channel: "plain", peer: "peer of u" }), ["u"]);
    assert.deepEqual(await keys({ keys: ["t", "s", "nobody's"] }), ["s", "t"]);
    assert.deepEqual(await keys({ keys: [] }), []);
    assert.deepEqual(await keys({ agentId: "nobody" }), []);
  },

  "is passed over on no page, though others were active in the same moment": async ({ store }) => {
    for (const key of ["s", "t", "u"]) await store.sessions.ensure(sessionOf(key));
    const paged: string[] = [];
    let [last] = await store.sessions.list({ limit: 1 });
    while (last !== undefined) {
      paged.push(last.key);
      [last] = await store.sessions.list({ limit: 1, behind: last });
    }
    assert.deepEqual(paged, ["s", "t", "u"]);
  },
};
