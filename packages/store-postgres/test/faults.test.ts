import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isRetryable, isStoreError } from "@signalbox/store/errors";
import type { Lease, SessionSeed, Store } from "@signalbox/store/types";
import { startPostgres } from "@signalbox/testkit/postgres";
import pg from "pg";
import { expect, onTestFinished, vi } from "vitest";
import { openPostgresStore, type PostgresStoreOptions } from "../src/index.ts";
import { startProxy } from "./proxy.ts";
import { administrate, createDatabase, test } from "./support.ts";

const LEASE_MS = 30_000;
const SESSION: SessionSeed = {
  key: "s",
  agentId: "a",
  channel: "c",
  account: "m",
  peer: "p",
  kind: "direct",
};
const reply = (text: string) => ({ channel: "c", account: "m", address: "a", payload: { text } });

async function open(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ url, ...options });
  onTestFinished(() => store.close());
  return store;
}

async function acquire(store: Store, holder = "one", name = "gateway"): Promise<Lease> {
  const lease = await store.leases.acquire(name, holder, LEASE_MS);
  if (lease === undefined) throw new Error("the lease is held");
  return lease;
}

/** Holds the lock of a session's row until the returned function is called. */
async function lockSession(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT key FROM session FOR UPDATE");
  return async () => {
    await client.query("COMMIT");
    await client.end();
  };
}

/** Waits until this many connections wait for a lock. */
async function waitForWaiting(url: string, expected: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const countWaiting = `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect
    .poll(async () => (await client.query(countWaiting)).rows[0].n)
    .toBeGreaterThanOrEqual(expected);
  await client.end();
}

test("a lease changes its holder only after the writes in progress under it", async () => {
  const url = await createDatabase();
  const [one, two] = [await open(url), await open(url)];
  const lease = await acquire(one);
  await one.sessions.ensure(SESSION);
  const unlock = await lockSession(url);
  const events: string[] = [];
  const append = one.sessions.append("s", ["before"], lease).then(() => events.push("appended"));
  await waitForWaiting(url, 1);
  // A renewal does not wait for the write, nor does the write wait for a renewal.
  expect(await one.leases.renew([lease], LEASE_MS)).toHaveLength(1);
  const takeover = acquire(two).then((taken) => {
    events.push("taken over");
    return taken;
  });
  await waitForWaiting(url, 2);
  await unlock();
  await append;
  expect((await takeover).epoch).toBeGreaterThan(lease.epoch);
  expect(events).toEqual(["appended", "taken over"]);
  await expect(one.sessions.append("s", ["after"], lease)).rejects.toMatchObject({ code: "fenced" });
  expect((await two.sessions.history("s")).map(({ message }) => message)).toEqual(["before"]);
});

test("a process with a wrong clock neither takes a lease nor sends early", async () => {
  const url = await createDatabase();
  const [one, two] = [await open(url), await open(url)];
  const lease = await acquire(one);
  const now = Date.now();
  await one.outbox.enqueue([{ ...reply("later"), notBefore: now + 600_000 }], { lease });
  const clock = vi.spyOn(Date, "now").mockReturnValue(now + 3_600_000);
  onTestFinished(() => clock.mockRestore());
  expect(await two.leases.acquire("gateway", "two", LEASE_MS)).toBeUndefined();
  expect(await two.inbox.claimDue(await acquire(two, "two", "other"))).toEqual([]);
  expect((await one.outbox.claimDue({ lease, limit: 9 })).rows).toEqual([]);
});

for (const fault of ["cut before the server gets it", "cut after the server got it"] as const)
  test(`a write is made once if the connection is lost during its commit: ${fault}`, async () => {
    const url = await createDatabase();
    const proxy = await startProxy(url);
    onTestFinished(() => proxy.close());
    const store = await open(proxy.through(url));
    const lease = await acquire(store);
    proxy.failNextCommit(fault);
    const [row] = await store.outbox.enqueue([reply("once")], { lease });
    const stored = await store.outbox.list({ states: ["pending"] });
    expect(stored.map(({ id }) => id)).toEqual([row?.id]);
    proxy.failNextCommit(fault);
    const event = { channel: "c", account: "m", eventId: "e", kind: "message", conversationId: "c" };
    const accepted = await store.inbox.accept({ ...event, senderId: "s", payload: 1 });
    expect(accepted.outcome).toBe("accepted");
  });

test("a commit that a crash undid is not confirmed by the later transaction with its id", async () => {
  const server = await startPostgres();
  if (typeof server === "string") throw new Error(server);
  onTestFinished(() => server.stop());
  // Nothing is written to the disk before a commit.
  await administrate("ALTER SYSTEM SET wal_writer_delay = '10s'", server.url());
  await administrate("SELECT pg_reload_conf()", server.url());
  const proxy = await startProxy(server.url());
  onTestFinished(() => proxy.close());
  const store = await open(proxy.through(server.url()));
  proxy.failNextCommit("cut before the server gets it", true);
  const outcome = store.kv.set("n", "a", 1).then(
    () => "set",
    (error: unknown) => (isStoreError(error) ? error.code : String(error)),
  );
  await expect.poll(() => proxy.isArmed).toBe(false);
  await server.kill();
  await server.start();
  for (let count = 0; count < 20; count += 1) await administrate("SELECT pg_current_xact_id()", server.url());
  proxy.isRefusing = false;
  expect(await outcome).toBe("io");
  expect(await store.kv.get("n", "a")).toBeUndefined();
});

test("calls succeed after all connections were lost, and are retryable while the server is away", async () => {
  const url = await createDatabase();
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  const store = await open(proxy.through(url));
  await store.kv.set("n", "a", 1);
  proxy.cutAll();
  await store.kv.set("n", "b", 2);
  proxy.isRefusing = true;
  proxy.cutAll();
  const failure: unknown = await store.kv.set("n", "c", 3).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "unreachable" });
  expect(isRetryable(failure)).toBe(true);
  proxy.isRefusing = false;
  await store.kv.set("n", "d", 4);
  expect((await store.kv.list("n")).map(({ key }) => key)).toEqual(["a", "b", "d"]);
});

test("a process that is stopped in a transaction loses its locks and cannot commit", async () => {
  const url = await createDatabase();
  const store = await open(url);
  const lease = await acquire(store);
  await store.sessions.ensure(SESSION);
  const script = fileURLToPath(new URL("children/suspended.ts", import.meta.url));
  const args = [script, url, "s", lease.name, String(lease.epoch)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
  });
  const isStopped = () => readFileSync(`/proc/${child.pid}/stat`, "utf8").includes(") T ");
  await expect.poll(isStopped).toBe(true);
  const taken = await acquire(store);
  child.kill("SIGCONT");
  await once(child, "exit");
  expect(output.trim()).toBe("fenced");
  await store.sessions.append("s", ["next"], taken);
  expect((await store.sessions.history("s")).map(({ message }) => message)).toEqual(["next"]);
});

test("opening reports a server that is away and a wrong URL", async () => {
  const closed = openPostgresStore({ url: "postgres://signalbox@127.0.0.1:1/none" });
  await expect(closed).rejects.toMatchObject({ code: "unreachable" });
  await expect(openPostgresStore({ url: "mysql://localhost" })).rejects.toMatchObject({ code: "invalid" });
  const unknown = new URL(await createDatabase());
  unknown.pathname = "/missing";
  await expect(openPostgresStore({ url: unknown.href })).rejects.toMatchObject({ code: "invalid" });
});
