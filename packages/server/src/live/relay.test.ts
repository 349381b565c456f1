import type { LiveEvent } from "@signalbox/protocol";
import type { Hints, LiveEventRow, LiveEventStore, LiveWatch } from "@signalbox/store/types";
import { expect, it, onTestFinished } from "vitest";
import { createLiveHub } from "./hub.ts";
import { createLiveRelay } from "./relay.ts";

const KEY = "agent:coder:web:direct:c1";

/** The store and the hints that the nodes share. */
function openShared() {
  const watches = new Map<string, LiveWatch>();
  let rows: LiveEventRow[] = [];
  const listeners = new Set<(topic: string) => void>();
  const shared = { hasHints: true, lose: 0, calls: 0 };
  const store: LiveEventStore = {
    async watch(added) {
      for (const watch of added) watches.set(watch.id, watch);
    },
    async unwatch(ids) {
      for (const id of ids) watches.delete(id);
      rows = rows.filter(({ watch }) => watches.has(watch));
    },
    watches: async (node) => [...watches.values()].filter((watch) => watch.node !== node),
    async send(events) {
      shared.calls += 1;
      for (const row of events)
        if (shared.lose > 0) shared.lose -= 1;
        else if (watches.has(row.watch)) rows.push(row);
    },
    async receive(node) {
      const isOwn = ({ watch }: LiveEventRow): boolean => watches.get(watch)?.node === node;
      const received = rows.filter(isOwn);
      rows = rows.filter((row) => !isOwn(row));
      return received;
    },
    async prune() {},
  };
  const hints: Hints = {
    send(topic) {
      if (shared.hasHints) for (const listener of [...listeners]) setImmediate(() => listener(topic));
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return { shared, store, hints, watches };
}

type Shared = ReturnType<typeof openShared>;

/** @param seat the node that runs the agent */
function openNode({ store, hints }: Shared, node: string, seat: { node: string }) {
  const ends = new Map<string, LiveEvent>();
  const relay = createLiveRelay({
    node,
    hub: createLiveHub((error) => {
      throw error;
    }),
    store,
    hints,
    isHere: () => seat.node === node,
    states: { isBusy: async () => false, getEnd: async (_sessionKey, runId) => ends.get(runId) },
    onError(error) {
      throw error;
    },
    now: Date.now,
  });
  relay.start();
  // The gateway calls it each second.
  const looking = setInterval(() => void relay.look(), 50);
  onTestFinished(async () => {
    clearInterval(looking);
    await relay.stop();
  });
  const seen: LiveEvent[] = [];
  const text = () => seen.flatMap((event) => (event.type === "text.delta" ? event.delta : [])).join("");
  const view = () => relay.hub.subscribe(KEY, (event) => seen.push(event));
  return { relay, seen, text, view, ends };
}

function openNodes() {
  const shared = openShared();
  const seat = { node: "a" };
  return { ...shared, seat, a: openNode(shared, "a", seat), b: openNode(shared, "b", seat) };
}

const start = (runId: string): LiveEvent => ({ type: "run.start", runId, answers: ["m1"] });
const delta = (text: string): LiveEvent => ({ type: "text.delta", runId: "r1", delta: text });
const end: LiveEvent = { type: "run.end", runId: "r1", outcome: "replied", answers: ["m1"] };

it.each([true, false])("shows a run to a viewer on another node (hints: %s)", async (hasHints) => {
  const { shared, a, b } = openNodes();
  shared.hasHints = hasHints;
  b.view();
  await b.relay.announced(KEY);
  await a.relay.look();
  expect(a.relay.hub.watched(KEY)).toBe(true);
  a.relay.hub.publish(KEY, start("r1"));
  for (const word of ["one ", "two ", "three"]) a.relay.hub.publish(KEY, delta(word));
  a.relay.hub.publish(KEY, end);
  await expect.poll(() => b.seen).toEqual([start("r1"), delta("one two three"), end]);
});

it("shows the current run to a viewer who joins late, and stores nothing without one", async () => {
  const { shared, a, b, watches } = openNodes();
  a.relay.hub.publish(KEY, start("r1"));
  a.relay.hub.publish(KEY, delta("one "));
  await a.relay.look();
  expect(shared.calls).toBe(0);
  const leave = b.view();
  await b.relay.hub.join(KEY);
  expect(b.seen).toEqual([start("r1"), delta("one ")]);
  expect(b.relay.isBusy(KEY)).toBe(false);
  a.relay.hub.publish(KEY, delta("two"));
  await expect.poll(() => b.text()).toBe("one two");
  leave();
  await expect.poll(() => [...watches]).toEqual([]);
  await a.relay.look();
  expect(a.relay.hub.watched(KEY)).toBe(false);
  // A later viewer must not see what is left of the run.
  a.relay.hub.publish(KEY, end);
  b.seen.length = 0;
  b.view();
  await b.relay.hub.join(KEY);
  expect(b.seen).toEqual([]);
});

it("joins deltas before it stores them", async () => {
  const { shared, a, b } = openNodes();
  b.view();
  await b.relay.hub.join(KEY);
  const { calls } = shared;
  a.relay.hub.publish(KEY, start("r1"));
  for (let n = 0; n < 500; n += 1) a.relay.hub.publish(KEY, delta("x"));
  await expect.poll(() => b.text()).toHaveLength(500);
  expect(shared.calls - calls).toBeLessThanOrEqual(2);
});

it("repeats the run from its start after events were lost", async () => {
  const { shared, a, b } = openNodes();
  b.view();
  await b.relay.hub.join(KEY);
  a.relay.hub.publish(KEY, start("r1"));
  a.relay.hub.publish(KEY, delta("one "));
  await expect.poll(() => b.text()).toBe("one ");
  shared.lose = 1;
  a.relay.hub.publish(KEY, delta("two "));
  await expect.poll(() => shared.lose).toBe(0);
  a.relay.hub.publish(KEY, delta("three"));
  await expect.poll(() => b.text()).toBe("one one two three");
  expect(b.seen.filter(({ type }) => type === "run.start")).toHaveLength(2);
});

it("retracts text and forgets sessions on every node", async () => {
  const { a, b } = openNodes();
  b.view();
  await b.relay.hub.join(KEY);
  a.relay.hub.publish(KEY, start("r1"));
  a.relay.hub.publish(KEY, delta("wrong"));
  a.relay.hub.retract(KEY);
  a.relay.hub.publish(KEY, delta("right"));
  await expect.poll(() => b.relay.hub.running(KEY)).toEqual([start("r1"), delta("right")]);
  a.relay.hub.forget(KEY);
  await expect.poll(() => b.relay.hub.running(KEY)).toEqual([]);
});

it("shows the run of the node that takes an agent over, and ends a run that ended unseen", async () => {
  const { a, b, seat, ...shared } = openNodes();
  const c = openNode(shared, "c", seat);
  b.view();
  await b.relay.hub.join(KEY);
  a.relay.hub.publish(KEY, start("r1"));
  a.relay.hub.publish(KEY, delta("from a"));
  await expect.poll(() => b.text()).toBe("from a");
  seat.node = "c";
  // A node that lost the agent shows nothing any more.
  await a.relay.look();
  a.relay.hub.publish(KEY, delta(", too late"));
  b.ends.set("r1", end);
  c.relay.hub.publish(KEY, start("r2"));
  await expect.poll(() => b.seen.slice(2)).toEqual([end, start("r2")]);
});
