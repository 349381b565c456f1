import type { Suite } from "./suite.ts";
import { answered, seed, takeLease } from "./support.ts";

export const contextsSuite: Suite = ({ test, expect, open }) => {
  test("contexts are kept with their messages, without forgotten memories", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    await answered(store, lease, "one", "a");
    await store.sessions.ensure({ ...seed("b"), agentId: "other" });
    await store.contexts.put("a", [{ seq: 1, text: "a page", told: [], recalled: "old", forOwner: false }]);
    await store.contexts.put("a", [
      { seq: 1, text: "a page", told: [], recalled: "a note", forOwner: false },
      { seq: 3, text: "", told: [], recalled: "more", forOwner: false },
    ]);
    await store.contexts.put("b", [
      { seq: 1, text: "", told: [], recalled: "of another agent", forOwner: true },
    ]);
    expect(await store.contexts.from("a", 1)).toEqual([
      { seq: 1, text: "a page", told: [], recalled: "a note", forOwner: false },
      { seq: 3, text: "", told: [], recalled: "more", forOwner: false },
    ]);
    expect(await store.contexts.from("a", 2)).toHaveLength(1);
    expect(await store.contexts.forgetRecalled(seed("a").agentId)).toBe(2);
    expect(await store.contexts.from("a", 1)).toEqual([
      { seq: 1, text: "a page", told: [], recalled: "", forOwner: false },
      { seq: 3, text: "", told: [], recalled: "", forOwner: false },
    ]);
    expect(await store.contexts.from("b", 1)).toMatchObject([
      { recalled: "of another agent", forOwner: true },
    ]);

    await store.sessions.reset("a", lease);
    await answered(store, lease, "two", "a");
    time.now += 100 * 86_400_000;
    await store.maintenance.prune();
    expect((await store.contexts.from("a", 1)).map(({ seq }) => seq)).toEqual([3]);
    await store.sessions.remove("a", await takeLease(store));
    expect(await store.contexts.from("a", 1)).toEqual([]);
  });
};
