import type { Suite } from "./suite.ts";
import { answered, takeLease } from "./support.ts";

export const groupHistorySuite: Suite = ({ test, expect, open }) => {
  test("edits and deletions in a group apply to the contexts of messages", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await answered(store, lease, "one", "a");
    const entry = (id: string, conversation = "g") => {
      return { conversation, id, senderId: "u", body: { text: id }, at: 1 };
    };
    const contexts = (told: ReturnType<typeof entry>[]) => [
      { seq: 1, text: "", told, recalled: "", forOwner: false },
    ];
    const told = async () => (await store.contexts.from("a", 1)).flatMap((context) => context.told);
    await store.contexts.put("a", contexts([entry("m0")]));
    await store.contexts.put(
      "a",
      contexts([entry("m1"), entry("m2"), entry("m3"), entry("m1", "elsewhere")]),
    );
    expect(await store.groupHistory.revise("g", "m2", { text: "edited" })).toBe(false);
    await store.groupHistory.clear("g", "m1");
    const left = [{ ...entry("m2"), body: { text: "edited" } }, entry("m3"), entry("m1", "elsewhere")];
    expect(await told()).toEqual(left);
  });

  test("the history of a group keeps the newest entries", async () => {
    const { store } = await open();
    for (let i = 1; i <= 25; i += 1) {
      await store.groupHistory.push("g", { id: `m${i}`, senderId: "u", body: { text: String(i) }, at: i });
    }
    await store.groupHistory.push("h", { id: "m1", senderId: "u", body: "other", at: 1 });
    expect((await store.groupHistory.list("g")).map((entry) => entry.at)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 6),
    );
    await store.groupHistory.push("g", { id: "m7", senderId: "u", body: { text: "edited" }, at: 7 });
    expect((await store.groupHistory.list("g"))[1]).toEqual({
      id: "m7",
      senderId: "u",
      body: { text: "edited" },
      at: 7,
    });
    expect(await store.groupHistory.revise("g", "m8", "changed")).toBe(true);
    expect(await store.groupHistory.revise("g", "m1", "gone already")).toBe(false);
    expect((await store.groupHistory.list("g"))[2]).toMatchObject({ id: "m8", body: "changed" });
    await store.groupHistory.push("g", { id: "m26", senderId: "u", body: null, at: 26 }, 2);
    expect((await store.groupHistory.list("g")).map((entry) => entry.id)).toEqual(["m25", "m26"]);
    await store.groupHistory.clear("g", "m25");
    expect(await store.groupHistory.list("g")).toHaveLength(1);
    await store.groupHistory.clear("g");
    expect(await store.groupHistory.list("g")).toEqual([]);
    expect(await store.groupHistory.list("h")).toHaveLength(1);
  });
};
