import { expect, test } from "vitest";
import { seed, takeLease, testStore } from "./support.ts";

test("a chain has no cycle if SQLite reuses the numbers of removed messages", async () => {
  const { store, time } = await testStore();
  const lease = await takeLease(store);
  for (const key of ["a", "b"]) {
    await store.sessions.ensure(seed(key));
    await store.sessions.append(key, ["one", "two"], lease);
  }
  await store.sessions.reset("a", lease);
  time.now += 100 * 86_400_000;
  await store.maintenance.prune();
  await store.sessions.remove("b", lease);
  await store.sessions.append("a", ["three", "four"], lease);
  const said = (rows: readonly { readonly message: unknown }[]) => rows.map(({ message }) => message);
  expect(said(await store.sessions.history("a", { limit: 10 }))).toEqual(["three", "four"]);
  expect(said(await store.sessions.transcript("a", { limit: 10 }))).toEqual(["four", "three"]);
});
