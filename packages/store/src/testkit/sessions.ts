import type { SessionMessage } from "../types/sessions.ts";
import {
  acquire,
  answer,
  begin,
  type Checks,
  expectDefined,
  expectEqual,
  expectRejection,
  toSeed,
} from "./under-test.ts";

const getBodies = (messages: readonly SessionMessage[]) => messages.map(({ message }) => message);

export const sessionChecks: Checks = {
  "are created once and patched field by field": async ({ store: { sessions } }) => {
    await sessions.ensure(toSeed("s"));
    await sessions.patch("s", { title: "A title", model: "m", data: { a: 1 } });
    const patched = await sessions.patch("s", { model: null });
    const fields = [patched.title, patched.model, patched.data];
    expectEqual(fields, ["A title", undefined, { a: 1 }], "A patch changed other fields, or not its own.");
    expectEqual(await sessions.ensure(toSeed("s")), patched, "An existing session was created again.");
    await expectRejection(sessions.patch("none", {}), "not_found", "A missing session was patched.");
  },

  "return their messages in order, the newest ones if there is a limit": async ({ store }) => {
    const { sessions } = store;
    const lease = await acquire(store);
    await sessions.ensure(toSeed("s"));
    const all = [{ n: 1 }, { n: 2 }, { n: 3 }];
    await sessions.append("s", all, lease);
    expectEqual(getBodies(await sessions.history("s")), all, "The history or its order is wrong.");
    const newest = getBodies(await sessions.history("s", { limit: 2 }));
    expectEqual(newest, [{ n: 2 }, { n: 3 }], "A limited history does not have the newest messages.");
    const before = getBodies(await sessions.transcript("s", { before: 3, limit: 1 }));
    expectEqual(before, [{ n: 2 }], "`before` or `limit` of a transcript is ignored.");
    const between = getBodies(await sessions.transcript("s", { after: 1, before: 3 }));
    expectEqual(between, [{ n: 2 }], "`after` of a transcript is ignored.");
    expectEqual(await sessions.history("none"), [], "A missing session has a history.");
  },

  "begin with their summary after a compaction, and keep the transcript": async ({ store }) => {
    const { sessions } = store;
    const lease = await acquire(store);
    await sessions.ensure(toSeed("s"));
    await sessions.append("s", [{ n: 1 }, { n: 2 }, { n: 3 }], lease);
    const compacted = await sessions.compact("s", { summary: { sum: 2 }, upTo: 2, lease });
    expectEqual(compacted.messageCount, 2, "The summary and the message after it were not counted.");
    const history = getBodies(await sessions.history("s"));
    expectEqual(history, [{ sum: 2 }, { n: 3 }], "The summary does not replace the older messages.");
    expectEqual((await sessions.transcript("s")).length, 4, "The transcript lost messages.");
    const hidden = sessions.compact("s", { summary: {}, upTo: 1, lease });
    await expectRejection(hidden, "conflict", "A message outside the history was compacted.");
  },

  "have an empty history after a reset, and keep the transcript": async ({ store }) => {
    const { sessions } = store;
    const lease = await acquire(store);
    await answer(store, lease, "s", "a");
    const reset = await sessions.reset("s", lease);
    expectEqual([reset.generation, reset.messageCount], [1, 0], "The reset did not begin a generation.");
    expectEqual(await sessions.history("s"), [], "The history is not empty after a reset.");
    await answer(store, lease, "s", "b");
    expectEqual((await sessions.history("s")).length, 2, "The new generation has wrong messages.");
    expectEqual((await sessions.transcript("s")).length, 4, "The transcript lost messages.");
  },

  "cannot be reset, removed or written by others during a run": async ({ store }) => {
    const { sessions } = store;
    const lease = await acquire(store);
    await begin(store, lease, "s", ["a"]);
    await expectRejection(sessions.reset("s", lease), "busy", "A session was reset during a run.");
    await expectRejection(sessions.remove("s", lease), "busy", "A session was removed during a run.");
    const other = await acquire(store, "two", "elsewhere");
    const append = sessions.append("s", [{ n: 1 }], other);
    await expectRejection(append, "busy", "Another holder wrote into a session during a run.");
    await sessions.append("s", [{ n: 1 }], lease);
    expectEqual((await sessions.history("s")).length, 2, "The holder of the run could not append.");
  },

  "are removed together with their messages": async ({ store }) => {
    const { sessions } = store;
    const lease = await acquire(store);
    await answer(store, lease, "s", "a");
    expectEqual(await sessions.remove("s", lease), true, "An existing session was not removed.");
    expectEqual(await sessions.remove("s", lease), false, "A session was removed twice.");
    await sessions.ensure(toSeed("s"));
    expectEqual(await sessions.transcript("s"), [], "A new session has messages of a removed one.");
  },

  "are listed by latest activity, and by key, agent, channel and peer": async ({ store, advance }) => {
    const { sessions } = store;
    const lease = await acquire(store);
    for (const key of ["s", "t", "u"]) {
      advance(20_000);
      await sessions.ensure(toSeed(key));
    }
    advance(20_000);
    await sessions.append("s", [{ n: 1 }], lease);
    const list = async (filter?: Parameters<typeof sessions.list>[0]) =>
      (await sessions.list(filter)).map(({ key }) => key);
    expectEqual(await list(), ["s", "u", "t"], "The sessions are not listed by latest activity.");
    expectEqual(await list({ limit: 1 }), ["s"], "The limit is ignored.");
    const [newest] = await sessions.list({ limit: 1 });
    const behind = expectDefined(newest, "The list is empty.");
    expectEqual(await list({ behind }), ["u", "t"], "The cursor is ignored.");
    const ofPeer = await list({ channel: "plain", peer: "peer of u" });
    expectEqual(ofPeer, ["u"], "`channel` or `peer` is ignored.");
    expectEqual(await list({ keys: ["t", "s", "missing"] }), ["s", "t"], "`keys` is ignored.");
    expectEqual(await list({ keys: [] }), [], "An empty list of keys is ignored.");
    expectEqual(await list({ agentId: "unknown" }), [], "`agentId` is ignored.");
  },

  "appear on exactly one page, even if their activity has the same time": async ({ store }) => {
    for (const key of ["s", "t", "u"]) await store.sessions.ensure(toSeed(key));
    const paged: string[] = [];
    let [last] = await store.sessions.list({ limit: 1 });
    while (last !== undefined) {
      paged.push(last.key);
      [last] = await store.sessions.list({ limit: 1, behind: last });
    }
    expectEqual(paged, ["s", "t", "u"], "A session is missing or repeated.");
  },
};
