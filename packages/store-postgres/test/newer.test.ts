import type { Store } from "@signalbox/store/types";
import { expect, onTestFinished } from "vitest";
import { inspectPostgres, openPostgresStore } from "../src/index.ts";
import { administrate, createDatabase, test } from "./support.ts";

const LEASE_MS = 30_000;

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore({ url, connections: 2, hints: false });
  onTestFinished(() => store.close());
  return store;
}

async function takeLease(store: Store, name: string, ms = LEASE_MS) {
  const lease = await store.leases.acquire(name, name, ms);
  if (lease === undefined) throw new Error(`the lease ${name} is held`);
  return lease;
}

const event = (id: string, sessionKey = "s") => ({
  channel: "c",
  account: "m",
  eventId: id,
  messageId: id,
  kind: "message",
  conversationId: "x",
  senderId: "p",
  payload: { id },
  route: { agentId: "a", sessionKey },
});
const seed = (key: string) => ({ key, agentId: "a", channel: "c", account: "m", peer: "p", kind: "direct" });
const reply = (address: string) => ({ channel: "c", account: "m", address, payload: { text: address } });

/** Changes a database as a later release would: a new table, new columns and a higher version. */
async function upgrade(url: string, compatibleFrom = 1): Promise<void> {
  await administrate(
    `CREATE TABLE later_release (id text PRIMARY KEY);
     ALTER TABLE inbox ADD COLUMN later text NOT NULL DEFAULT 'x';
     ALTER TABLE outbox ADD COLUMN later text NOT NULL DEFAULT 'x';
     ALTER TABLE run ADD COLUMN later text NOT NULL DEFAULT 'x';
     ALTER TABLE session ADD COLUMN later text NOT NULL DEFAULT 'x';
     ALTER TABLE lease ADD COLUMN later text NOT NULL DEFAULT 'x';
     UPDATE signalbox_version SET version = version + 1, compatible_from = ${compatibleFrom}`,
    url,
  );
}

async function readVersion(url: string): Promise<number> {
  return (await inspectPostgres(url)).schemaVersion;
}

test("a store works on while a later release migrates the database, and after its own restart", async () => {
  const url = await createDatabase();
  const running = await open(url);
  const lease = await takeLease(running, "older");
  const version = await readVersion(url);
  await upgrade(url);
  await answer(running, lease, "1");
  // Opens the database again, as after a restart of the older release.
  const restarted = await open(url);
  await answer(restarted, await takeLease(restarted, "older"), "2");
  expect(await restarted.sessions.transcript("s")).toHaveLength(4);
  expect(await readVersion(url)).toBe(version + 1);
});

async function answer(store: Store, lease: Awaited<ReturnType<typeof takeLease>>, id: string): Promise<void> {
  const accepted = await store.inbox.accept({ ...event(id), lease });
  if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
  const begun = await store.runs.begin({
    session: seed("s"),
    lease,
    inboxIds: [accepted.id],
    userMessages: [{ role: "user", content: id }],
  });
  if (begun.outcome !== "started") throw new Error(begun.outcome);
  await store.runs.finish({
    runId: begun.run.id,
    lease,
    outcome: "completed",
    inbox: [{ id: accepted.id, state: "replied" }],
    messages: [{ role: "assistant", content: id }],
    outbox: [reply(id)],
  });
}

test("a later release whose migration removed something is refused, and nothing changes", async () => {
  const url = await createDatabase();
  await open(url);
  const version = await readVersion(url);
  await upgrade(url, version + 1);
  await expect(openPostgresStore({ url })).rejects.toMatchObject({ code: "store_newer" });
  await expect(openPostgresStore({ url, access: "read" })).rejects.toMatchObject({ code: "store_newer" });
  await expect(inspectPostgres(url)).rejects.toMatchObject({ code: "store_newer" });
});

test("messages, runs and replies of a newer format are left to a newer node", async () => {
  const url = await createDatabase();
  const store = await open(url);
  const gone = await takeLease(store, "newer node", 1);
  for (const id of ["old", "new"])
    await store.inbox.accept({ ...event(`m-${id}`, `wait-${id}`), lease: gone });
  const begun = await Promise.all(
    ["run-old", "run-new"].map((key) =>
      store.runs.begin({ session: seed(key), lease: gone, inboxIds: [], userMessages: [] }),
    ),
  );
  const runs = begun.flatMap((one) => (one.outcome === "started" ? one.run.id : []));
  await store.outbox.enqueue([reply("old"), reply("new"), reply("behind")], { lease: gone });
  await upgrade(url);
  await administrate(
    `UPDATE inbox SET format = 2 WHERE event_id = 'm-new';
     UPDATE run SET format = 2 WHERE session_key = 'run-new';
     UPDATE outbox SET format = 2 WHERE address = 'new';
     UPDATE outbox SET address = 'new' WHERE address = 'behind'`,
    url,
  );

  const lease = await takeLease(store, "older node");
  const claimed = await store.inbox.claimDue(lease);
  expect(claimed.map(({ eventId }) => eventId)).toEqual(["m-old"]);
  const interrupted = await store.runs.interrupted(lease);
  expect(interrupted.map(({ run }) => run.sessionKey)).toEqual(["run-old"]);
  const adopted = await Promise.all(runs.map((runId) => store.runs.adopt({ runId, lease })));
  expect(adopted.map((run) => run?.sessionKey)).toEqual(["run-old", undefined]);
  const { rows } = await store.outbox.claimDue({ lease, limit: 9 });
  // A reply behind a newer one to the same place waits, because replies keep their order.
  expect(rows.map(({ address }) => address)).toEqual(["old"]);
  // The session of the newer run stays taken.
  const next = await store.runs.begin({ session: seed("run-new"), lease, inboxIds: [], userMessages: [] });
  expect(next.outcome).toBe("busy");
  const { inbox, outbox } = await store.maintenance.stats();
  expect([inbox.queued, outbox.pending]).toEqual([2, 2]);
});
