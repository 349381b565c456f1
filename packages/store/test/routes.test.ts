import { expect, test } from "vitest";
import { testStore } from "./support.ts";

test("routes are stored by configuration and digest", async () => {
  const { store, time } = await testStore();
  await store.routes.put("c1", [{ digest: "a", route: { agent: "one" } }]);
  time.now += 1;
  await store.routes.put("c2", [
    { digest: "b", route: { agent: "two" } },
    { digest: "c", route: { agent: "three" } },
  ]);
  expect(await store.routes.load("c1")).toEqual([{ digest: "a", route: { agent: "one" } }]);
  expect((await store.routes.load("c2")).map((row) => row.digest).sort()).toEqual(["b", "c"]);
  expect(await store.routes.prune("c2")).toBe(1);
  expect(await store.routes.load("c1")).toEqual([]);
  expect(await store.routes.load("c2", 1)).toHaveLength(1);
});
