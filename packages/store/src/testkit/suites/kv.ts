import type { Suite } from "./suite.ts";

export const kvSuite: Suite = ({ test, expect, open }) => {
  test("values are stored without their undefined members", async () => {
    const { store } = await open();
    await store.kv.set("places", "1", { conversation: { id: "C1", threadId: undefined }, names: undefined });
    expect(await store.kv.get("places", "1")).toStrictEqual({ conversation: { id: "C1" } });
  });

  test("values have a namespace and can expire", async () => {
    const { store, time } = await open();
    await store.kv.set("discord", "resume", { session: "s", seq: 4 });
    await store.kv.set("names", "ou_1", "Zhang San", 1000);
    await store.kv.set("names", "ou_2", "Li Si");
    expect(await store.kv.get("discord", "resume")).toEqual({ session: "s", seq: 4 });
    expect(await store.kv.list("names")).toEqual([
      { key: "ou_1", value: "Zhang San", expiresAt: time.now + 1000 },
      { key: "ou_2", value: "Li Si" },
    ]);
    time.now += 1000;
    expect(await store.kv.get("names", "ou_1")).toBeUndefined();
    await store.kv.set("names", "ou_1", "other");
    expect(await store.kv.delete("names", "ou_1")).toBe(true);
    expect(await store.kv.delete("names", "ou_1")).toBe(false);
  });
};
