import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "@signalbox/store/types";
import { expect, onTestFinished } from "vitest";
import { openPostgresStore, type PostgresStoreOptions } from "../src/index.ts";
import { administrate, createDatabase, test } from "./support.ts";

/** A store whose hints are recorded. */
async function openListening(url: string, options: Partial<PostgresStoreOptions> = {}) {
  const store: Store = await openPostgresStore({ url, connections: 2, ...options });
  onTestFinished(() => store.close());
  const received: string[] = [];
  store.hints.listen((topic) => received.push(topic));
  return { store, received };
}

type Listening = Awaited<ReturnType<typeof openListening>>;

/** Sends hints until one arrives, because a connection may not listen yet. */
async function expectArrival(from: Listening, to: Listening, topic: string): Promise<void> {
  const sendAgain = () => {
    from.store.hints.send(topic);
    return to.received;
  };
  await expect.poll(sendAgain).toContain(topic);
}

test("a hint reaches other processes, collected with those of the next milliseconds", async () => {
  const url = await createDatabase();
  const [one, two] = [await openListening(url), await openListening(url)];
  await expectArrival(one, two, "ready");
  one.received.length = 0;
  for (let n = 0; n < 100; n += 1) one.store.hints.send(n % 2 === 0 ? "a" : "b");
  expect(one.received).toHaveLength(100);
  // Hints of the first topic may still be in flight.
  await expect.poll(() => two.received.filter((topic) => topic !== "ready").toSorted()).toEqual(["a", "b"]);
});

test("hints arrive again after their connections were lost", async () => {
  const url = await createDatabase();
  const [one, two] = [await openListening(url), await openListening(url)];
  await expectArrival(one, two, "before");
  const others = "WHERE datname = current_database() AND pid <> pg_backend_pid()";
  await administrate(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity ${others}`, url);
  await expectArrival(one, two, "after");
});

test("without hints, other processes find new work by polling", async () => {
  const url = await createDatabase();
  const [one, two] = [await openListening(url, { hints: false }), await openListening(url)];
  one.store.hints.send("a");
  const event = { channel: "c", account: "m", eventId: "e", kind: "message", conversationId: "c" };
  const accepted = await one.store.inbox.accept({ ...event, senderId: "s", payload: 1 });
  await sleep(200);
  expect([one.received, two.received]).toEqual([["a"], []]);
  const lease = await two.store.leases.acquire("two", "two", 30_000);
  if (lease === undefined || accepted.outcome !== "accepted") throw new Error("no lease or no message");
  expect((await two.store.inbox.claimDue(lease)).map(({ id }) => id)).toEqual([accepted.id]);
});
