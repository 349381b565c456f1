import { expect, onTestFinished } from "vitest";
import { openPostgresStore } from "../src/index.ts";
import { administrate, createDatabase, openEmpty, test } from "./support.ts";

const watch = (id: string, node: string) => ({ id, node, sessionKey: `session of ${id}` });

async function openLive() {
  const { store, time } = await openEmpty();
  onTestFinished(() => store.close());
  const { liveEvents } = store;
  if (liveEvents === undefined) throw new Error("the store is not shared");
  return { live: liveEvents, time };
}

test("events reach the node of their watch, once and in order", async () => {
  const { live } = await openLive();
  await live.watch([watch("a", "one"), watch("b", "two")], 1_000);
  await live.send([
    { watch: "a", body: { n: 1 } },
    { watch: "b", body: { n: 2 } },
    { watch: "a", body: { n: 3 } },
  ]);
  await live.send([{ watch: "a", body: { n: 4 } }]);
  const numbers = async (node: string) =>
    (await live.receive(node)).map(({ watch: id, body }) => [id, Reflect.get(Object(body), "n")]);
  expect(await numbers("one")).toEqual([
    ["a", 1],
    ["a", 3],
    ["a", 4],
  ]);
  expect(await numbers("one")).toEqual([]);
  expect(await numbers("two")).toEqual([["b", 2]]);
});

test("a node sees the watches of others until they end or expire", async () => {
  const { live, time } = await openLive();
  await live.watch([watch("a", "one"), watch("b", "two"), watch("c", "two")], 1_000);
  const ids = async (node: string) => (await live.watches(node)).map(({ id }) => id).toSorted();
  expect(await live.watches("two")).toEqual([watch("a", "one")]);
  expect(await ids("one")).toEqual(["b", "c"]);
  await live.unwatch(["b"]);
  expect(await ids("one")).toEqual(["c"]);
  time.now += 600;
  await live.watch([watch("c", "two")], 1_000);
  time.now += 600;
  expect(await ids("one")).toEqual(["c"]);
  expect(await ids("two")).toEqual([]);
  time.now += 600;
  expect(await ids("one")).toEqual([]);
});

test("events of watches that ended are dropped", async () => {
  const { live, time } = await openLive();
  await live.send([{ watch: "a", body: 0 }]);
  await live.watch([watch("a", "one"), watch("b", "one")], 1_000);
  await live.send([
    { watch: "a", body: 1 },
    { watch: "b", body: 2 },
  ]);
  await live.unwatch(["a"]);
  await live.watch([watch("a", "one")], 1_000);
  expect((await live.receive("one")).map(({ body }) => body)).toEqual([2]);
  await live.send([{ watch: "b", body: 3 }]);
  time.now += 1_000;
  await live.prune();
  await live.watch([watch("b", "one")], 1_000);
  expect(await live.receive("one")).toEqual([]);
});

test("live events cost no log of the database", async () => {
  const url = await createDatabase();
  await (await openPostgresStore({ url })).close();
  const logged = "relname IN ('live_watch', 'live_event') AND relpersistence <> 'u'";
  await administrate(`SELECT 1 / (SELECT 1 - count(*) FROM pg_class WHERE ${logged})`, url);
});
