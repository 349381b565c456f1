import type { Activity, LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createActivityWatch } from "./activity.ts";
import { createLiveHub } from "./hub.ts";

const NOTHING: Activity = { runs: [], waiting: [], commands: [], schedules: [] };
const start: LiveEvent = { type: "run.start", runId: "r" };

function withRun(agent: string): Activity {
  return { ...NOTHING, runs: [{ runId: "r", sessionKey: "s", agent, startedAt: 1, calls: [] }] };
}

/** A viewer of a gateway whose clock stands still until it is told to tick. */
function open() {
  const timers: { callback: () => void; ms: number }[] = [];
  const shown: Activity[] = [];
  const errors: unknown[] = [];
  const live = createLiveHub((error) => errors.push(error));
  const gateway = { now: NOTHING, looks: 0, fails: false };
  const watch = createActivityWatch({
    service: {
      live,
      activity: async () => {
        gateway.looks += 1;
        if (gateway.fails) throw new Error("the store is away");
        return gateway.now;
      },
    },
    onError: (error) => errors.push(error),
    later(callback, ms) {
      const timer = { callback, ms };
      timers.push(timer);
      return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
    },
  });
  const leave = watch(({ activity }) => shown.push(activity));
  const settled = () => new Promise(setImmediate);
  const tick = async () => {
    timers.shift()?.callback();
    await settled();
  };
  return { live, gateway, shown, errors, timers, watch, leave, tick, settled };
}

it("shows what goes on at once, and again whenever it has changed", async () => {
  const { live, gateway, shown, timers, tick, settled } = open();
  await settled();
  expect(shown).toEqual([NOTHING]);
  expect(timers.map(({ ms }) => ms)).toEqual([2_000]);
  await tick();
  expect([gateway.looks, shown.length]).toEqual([2, 1]);
  gateway.now = withRun("coder");
  live.publish("s", start);
  live.publish("t", start);
  // What comes together is looked at together, and soon.
  expect(timers.map(({ ms }) => ms)).toEqual([250]);
  await tick();
  expect(shown).toEqual([NOTHING, withRun("coder")]);
  expect(timers.map(({ ms }) => ms)).toEqual([2_000]);
});

it("looks again soon where something happens during a look, and not for each word of an answer", async () => {
  const { live, timers, settled, gateway } = open();
  live.publish("s", start);
  await settled();
  expect(timers.map(({ ms }) => ms)).toEqual([250]);
  live.publish("s", { type: "text.delta", runId: "r", delta: "a" });
  expect(timers).toHaveLength(1);
  expect(gateway.looks).toBe(1);
});

it("goes on after a look that failed, and shows nothing once nobody watches", async () => {
  const { live, gateway, shown, errors, timers, leave, tick } = open();
  gateway.fails = true;
  await tick();
  gateway.now = withRun("coder");
  await tick();
  expect(String(errors[0])).toContain("the store is away");
  gateway.fails = false;
  await tick();
  expect(shown.at(-1)).toEqual(withRun("coder"));
  leave();
  live.publish("s", start);
  expect(timers).toEqual([]);
});

it("looks once for all who watch, until the last one leaves", async () => {
  const { live, gateway, shown, timers, watch, leave, tick, settled } = open();
  await settled();
  const others: Activity[] = [];
  const leaveToo = watch(({ activity }) => others.push(activity));
  await settled();
  expect([gateway.looks, timers.length, others]).toEqual([1, 1, [NOTHING]]);
  gateway.now = withRun("coder");
  live.publish("s", start);
  await tick();
  expect([gateway.looks, others]).toEqual([2, shown]);
  leave();
  gateway.now = NOTHING;
  await tick();
  expect([shown.length, others.length]).toEqual([2, 3]);
  leaveToo();
  expect(timers).toEqual([]);
  gateway.now = withRun("writer");
  watch(({ activity }) => shown.push(activity));
  await settled();
  expect(shown.slice(2)).toEqual([withRun("writer")]);
});
