import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createHeldLeases } from "./held-leases.ts";
import { type AgentGroup, createSharedSeats, type SeatWork } from "./shared-seats.ts";

const LEASE_MS = 5_000;

interface Settings {
  readonly labels?: readonly string[];
  readonly isKeeper?: boolean;
}

/** Gateways that share a store, whose clock the test moves. */
async function openNodes(
  agents: readonly { readonly id: string; readonly nodes?: readonly string[] }[],
  groups: readonly AgentGroup[] = agents.map((agent): AgentGroup => [agent]),
) {
  const time = { now: 1_000 };
  const store = await openStore({ path: ":memory:", clock: () => time.now });
  onTestFinished(() => store.close());
  const node = async (name: string, { labels = [], isKeeper = false }: Settings = {}) => {
    const lease = await store.leases.acquire(`gateway ${name}`, name, LEASE_MS);
    if (lease === undefined) throw new Error("no lease");
    const held = createHeldLeases({
      leases: store.leases,
      holder: name,
      leaseMs: LEASE_MS,
      now: () => time.now,
    });
    const seats = createSharedSeats({
      node: name,
      leases: store.leases,
      held,
      kv: store.kv,
      labels: () => ({ name, labels }),
      groups: () => groups,
      getSeat: (agentId, sessionKey) => (sessionKey === undefined ? agentId : `${agentId}#${sessionKey}`),
      isKeeper: () => isKeeper,
    });
    const lost: Error[] = [];
    const state = { isIdle: true, prepared: [] as string[], lost };
    const work: SeatWork = {
      prepare: async (ids) => void state.prepared.push(...ids),
      isIdle: () => state.isIdle,
      onLost: (error) => lost.push(error),
    };
    const renew = async () => {
      await store.leases.renew([lease], LEASE_MS);
      await held.renew();
    };
    const has = () => agents.flatMap(({ id }) => (seats.isHere(id) ? [id] : []));
    return { seats, state, renew, has, balance: () => seats.balance(work) };
  };
  return { node, time };
}

it("runs each agent on one node, after its state was taken over", async () => {
  const { node } = await openNodes([{ id: "a" }, { id: "b" }]);
  const one = await node("one");
  const two = await node("two");
  expect(await one.balance()).toEqual({ taken: ["a"], left: [] });
  expect(one.state.prepared).toEqual(["a"]);
  expect(await two.balance()).toEqual({ taken: ["b"], left: [] });
  expect([one.has(), two.has()]).toEqual([["a"], ["b"]]);
});

it("gives an idle agent up to a node with fewer agents", async () => {
  const { node } = await openNodes([{ id: "a" }, { id: "b" }, { id: "c" }]);
  const one = await node("one");
  await one.balance();
  expect(one.has()).toHaveLength(3);
  const two = await node("two");
  one.state.isIdle = false;
  expect((await one.balance()).left).toEqual([]);
  one.state.isIdle = true;
  expect((await one.balance()).left).toHaveLength(1);
  expect((await two.balance()).taken).toHaveLength(1);
  // The load is as even as it can be.
  for (let look = 0; look < 4; look++) {
    expect(await one.balance()).toEqual({ taken: [], left: [] });
    expect(await two.balance()).toEqual({ taken: [], left: [] });
  }
});

it("binds an agent to nodes with one of its labels, or with its name", async () => {
  const { node } = await openNodes([
    { id: "a", nodes: ["gpu", "tpu"] },
    { id: "b", nodes: ["one"] },
  ]);
  const one = await node("one", { labels: ["cpu"] });
  for (let look = 0; look < 4; look++) await one.balance();
  expect(one.has()).toEqual(["b"]);
  const two = await node("two", { labels: ["tpu"] });
  await two.balance();
  expect(two.has()).toEqual(["a"]);
});

it("takes the agents of a dead node, which learns of it when it continues", async () => {
  const { node, time } = await openNodes([{ id: "a" }]);
  const one = await node("one");
  const two = await node("two");
  await one.balance();
  for (let look = 0; look < 3; look++) {
    time.now += 2_000;
    await two.renew();
    await two.balance();
  }
  expect(two.has()).toEqual(["a"]);
  await one.renew();
  expect(one.state.lost).toHaveLength(1);
});

it("takes nothing from others for one lease after an outage that may have been common to all", async () => {
  const { node, time } = await openNodes([{ id: "a" }, { id: "b" }]);
  const one = await node("one");
  const two = await node("two");
  await one.balance();
  await two.balance();
  // The database was down for longer than all leases.
  time.now += 3 * LEASE_MS;
  expect((await two.balance()).taken).toEqual([]);
  await two.renew();
  expect((await two.balance()).taken).toEqual([]);
  await one.renew();
  expect(one.state.lost).toEqual([]);
  time.now += LEASE_MS - 1;
  await two.renew();
  await one.renew();
  time.now += 2;
  await two.balance();
  expect([one.has(), two.has()]).toEqual([["a"], ["b"]]);
});

it("answers for an agent that is not configured on the node that does the maintenance", async () => {
  const { node } = await openNodes([{ id: "a" }]);
  const one = await node("one");
  const two = await node("two", { isKeeper: true });
  await one.balance();
  await two.balance();
  expect([one.seats.isHere("removed"), two.seats.isHere("removed")]).toEqual([false, true]);
  expect(two.seats.isHere("a")).toBe(false);
});

it("runs agents whose workspaces overlap on the same node", async () => {
  const [a, b, c] = [{ id: "a" }, { id: "b", nodes: ["two"] }, { id: "c" }];
  const { node } = await openNodes([a, b, c], [[a, b], [c]]);
  const one = await node("one");
  const two = await node("two");
  for (let look = 0; look < 4; look++) {
    await one.balance();
    await two.balance();
  }
  // The labels of one agent bind both.
  expect([one.has(), two.has()]).toEqual([["c"], ["a", "b"]]);
  expect(two.state.prepared).toEqual(["a", "b"]);
});

it("spreads the shards of an agent, and finds the one of a session", async () => {
  const { node } = await openNodes([{ id: "a#1" }, { id: "a#2" }]);
  const one = await node("one");
  const two = await node("two");
  for (let round = 0; round < 3; round += 1) {
    await one.balance();
    await two.balance();
  }
  expect([...one.has(), ...two.has()].toSorted()).toEqual(["a#1", "a#2"]);
  const [first = ""] = one.has();
  expect(one.seats.getSeat("a", "1")).toBe("a#1");
  expect(one.seats.isHere("a", first.slice(2))).toBe(true);
  expect(two.seats.isHere("a", first.slice(2))).toBe(false);
  expect(two.seats.holds(first)).toBe(false);
});
