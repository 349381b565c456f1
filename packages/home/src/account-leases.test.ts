import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createAccountLeases } from "./account-leases.ts";
import { createHeldLeases } from "./held-leases.ts";

const LEASE_MS = 30_000;

/** Two gateways on one store, whose clock the test turns. */
async function twoGateways() {
  const time = { now: 1_000 };
  const { leases, close } = await openStore({ path: ":memory:", clock: () => time.now });
  onTestFinished(() => close());
  const gateway = (holder: string) => {
    const held = createHeldLeases({ leases, holder, leaseMs: LEASE_MS });
    const accounts = createAccountLeases({ held, isShared: (channel) => channel !== "web" });
    return { acquire: accounts.acquire, renew: held.renew };
  };
  return { one: gateway("home /one"), two: gateway("home /two"), gateway, time };
}

it("assigns an account to one gateway, and to the next after its release", async () => {
  const { one, two } = await twoGateways();
  const right = await one.acquire("feishu", "main");
  expect(right?.lost.aborted).toBe(false);
  expect(await two.acquire("feishu", "main")).toBeUndefined();
  expect(await two.acquire("feishu", "other")).toBeDefined();
  await right?.release();
  expect(await two.acquire("feishu", "main")).toBeDefined();
});

it("assigns the account of a dead gateway to another", async () => {
  const { one, two, time } = await twoGateways();
  const stopped = await one.acquire("feishu", "main");
  const kept = await one.acquire("feishu", "other");
  time.now += LEASE_MS;
  expect(await two.acquire("feishu", "main")).toBeDefined();
  // It goes on after a long pause: what nobody took since is still its own.
  await one.renew();
  expect([stopped?.lost.aborted, kept?.lost.aborted]).toEqual([true, false]);
  await stopped?.release();
  await two.renew();
  expect(await one.acquire("feishu", "main")).toBeUndefined();
});

it("keeps an account while its lease is renewed", async () => {
  const { one, two, time } = await twoGateways();
  await one.acquire("feishu", "main");
  for (let i = 0; i < 5; i += 1) {
    time.now += LEASE_MS / 2;
    await one.renew();
    expect(await two.acquire("feishu", "main")).toBeUndefined();
  }
});

it("keeps a restarted account when its earlier start is released", async () => {
  const { one, two, time } = await twoGateways();
  const before = await one.acquire("feishu", "main");
  const right = await one.acquire("feishu", "main");
  await before?.release();
  for (let i = 0; i < 3; i += 1) {
    time.now += LEASE_MS / 2;
    await one.renew();
    expect(await two.acquire("feishu", "main")).toBeUndefined();
  }
  expect(right?.lost.aborted).toBe(false);
});

it("acquires its accounts at once after a crash", async () => {
  const { one, gateway } = await twoGateways();
  await one.acquire("feishu", "main");
  expect(await gateway("home /one").acquire("feishu", "main")).toBeDefined();
});

it("needs no lease for the web page, which every gateway has", async () => {
  const { one, two } = await twoGateways();
  expect(await one.acquire("web", "main")).toBeDefined();
  expect(await two.acquire("web", "main")).toBeDefined();
});
