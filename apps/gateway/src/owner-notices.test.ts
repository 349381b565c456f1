import type { Channel } from "@signalbox/channel";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { plainChannel } from "../test/plain-channel.ts";
import type { Account } from "./channels.ts";
import { createLogger, createRedactor } from "./log.ts";
import { createOwnerNotices } from "./owner-notices.ts";
import { outboxRow } from "./path/outbox-row.ts";
import type { GatewayBodies } from "./path/stored.ts";

/** Owners of two accounts, with an hour between two moments of the store's clock. */
async function open(openDirect: (account: string, owner: string) => Promise<string>) {
  let time = Date.now();
  const now = () => time;
  const store = await openStore<GatewayBodies>({ path: ":memory:", clock: now });
  const lease = await store.leases.acquire("gateway", "test", 1_000_000_000);
  if (!lease) throw new Error("no lease");
  const { definition } = plainChannel();
  const running: Channel = {
    start: async () => {},
    stop: async () => {},
    health: () => ({ state: "ready" }),
    self: () => undefined,
    send: () => Promise.reject(new Error("nothing is sent here")),
  };
  const accounts = ["main", "second"].map((name): [string, Account] => [
    name,
    {
      channel: "plain",
      account: name,
      definition,
      running: { ...running, openDirect: (owner: string) => openDirect(name, owner) },
    },
  ]);
  const woken: number[] = [];
  const notices = createOwnerNotices({
    ...{ store, lease, owners: ["plain:olga", "other:nobody"], now: () => time + 1 },
    accounts: (channel) => (channel === "plain" ? accounts : []),
    wakeOutbox: () => woken.push(1),
    logger: createLogger("silent", createRedactor([])),
    timing: { gatherMs: 1, apartMs: 1 },
  });
  onTestFinished(async () => {
    notices.stop();
    await store.close();
  });
  const give = async (text: string, notice: boolean, at = "room") => {
    time += 3_600_000;
    const place = { channel: "plain", account: "main", address: at };
    const payload = { parts: [{ type: "text" as const, text }], ...(notice ? { notice } : {}) };
    const [row] = await store.outbox.enqueue(
      [outboxRow(place, payload, { expiresAt: time + 1e9, claim: true })],
      { lease },
    );
    if (!row) throw new Error("no row");
    await store.outbox.dead(row.id, lease, "gone");
  };
  const told = async () =>
    (await store.outbox.list({ states: ["pending"] }))
      .toReversed()
      .map(({ account, address, payload: { parts } }) => [
        account,
        address,
        parts[0]?.type === "text" ? parts[0].text : "",
      ]);
  const pass = () => {
    time += 1;
  };
  return { store, lease, notices, give, told, woken, pass };
}

it("tells an owner once of what was given up, and nothing of what it said", async () => {
  const { store, notices, give, told, woken } = await open(async (_, owner) => `direct:${owner}`);
  await give("the secret answer", false);
  await give("another", false, "room2");
  notices.look();
  notices.look();
  await expect.poll(() => woken.length).toBe(1);
  const text =
    "2 replies were not delivered: 2 dead on plain/main. `signalbox outbox list` shows what and why.";
  expect(await told()).toEqual([["main", "direct:olga", text]]);
  expect(await store.kv.get("undelivered", "told")).toEqual({
    at: expect.any(Number),
    id: expect.any(String),
  });
  // Only what came since, and never of its own words.
  await give("a word about it", true, "room3");
  notices.look();
  await give("a third", false, "room4");
  notices.look();
  await expect.poll(async () => (await told()).length).toBe(2);
  expect((await told())[1]?.[2]).toMatch(/^A reply was not delivered: 1 dead/);
});

it("says nothing where only its own words were given up", async () => {
  const { notices, give, told } = await open(async (_, owner) => `direct:${owner}`);
  await give("a word about it", true);
  notices.look();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await told()).toEqual([]);
});

it("tells of an old reply that is given up late, behind any number of words of its own", async () => {
  const { store, lease, notices, give, told, woken, pass } = await open(
    async (_, owner) => `direct:${owner}`,
  );
  const place = { channel: "plain", account: "main", address: "early" };
  const payload = { parts: [{ type: "text" as const, text: "the answer" }] };
  const [old] = await store.outbox.enqueue([outboxRow(place, payload, { expiresAt: 1e15, claim: true })], {
    lease,
  });
  for (let n = 0; n < 1_001; n++) await give("a word", true, `room${n}`);
  notices.look();
  await expect.poll(() => woken.length).toBe(1);
  expect(await told()).toEqual([]);
  pass();
  if (old) await store.outbox.dead(old.id, lease, "gone");
  notices.look();
  await expect.poll(async () => (await told()).length).toBe(1);
  expect((await told())[0]?.[2]).toMatch(/^A reply was not delivered: 1 dead/);
});

it("counts exactly what it can, and goes on behind it", async () => {
  const { store, notices, give, told } = await open(async (_, owner) => `direct:${owner}`);
  for (let n = 0; n < 1_500; n++) await give("x", false, `room${n}`);
  // Noted by a clock that was ahead, in the form of an earlier version.
  await store.kv.set("undelivered", "told", Date.now() * 2);
  notices.look();
  await expect.poll(async () => (await told()).length).toBe(1);
  expect((await told())[0]?.[2]).toMatch(/^1500 replies were not delivered: 1500 dead on plain\/main/);
  await give("one more", false, "another room");
  notices.look();
  await expect.poll(async () => (await told()).length).toBe(2);
  expect((await told())[1]?.[2]).toMatch(/^A reply was/);
});

it("tries again where nobody can be reached, and first the account the owner last wrote to", async () => {
  let away = true;
  const asked: string[] = [];
  const { store, notices, give, told } = await open(async (account, owner) => {
    asked.push(account);
    if (away) throw new Error("the platform is away");
    return `direct:${owner}`;
  });
  await store.sessions.ensure({
    ...{ key: "s", agentId: "a", channel: "plain", account: "second", peer: "olga", kind: "direct" },
  });
  await give("the answer", false);
  notices.look();
  await expect.poll(() => asked.length).toBeGreaterThan(2);
  expect(asked.slice(0, 2)).toEqual(["second", "main"]);
  expect(await told()).toEqual([]);
  away = false;
  await expect.poll(async () => (await told()).map(([account]) => account)).toEqual(["second"]);
});
