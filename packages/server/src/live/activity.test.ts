import type { Activity, LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createActivityWatch } from "./activity.ts";
import { createLiveHub } from "./hub.ts";

const NOTHING: Activity = { runs: [], waiting: [], commands: [], schedules: [] };
const start: LiveEvent = { type: "run.start", runId: "r" };

function withRun(agent: string): Activity {
  return { ...NOTHING, runs: [{ runId: "r", sessionKey: "s", agent, startedAt: 1, calls: [] }] };
}

/** A viewer of a gateway whose timers fire only on `tick`. */
function open() {
  const timers: { callback: () => void; ms: number }[] = [];
  const shown: Activity[] = [];
  const errors: unknown[] = [];
  const live = createLiveHub((error) => errors.push(error));
  const gateway = { now: NOTHING, polls: 0, fails: false };
  const watch = createActivityWatch({
    service: {
      live,
      activity: async () => {
        gateway.polls += 1;
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

it("shows the activity immediately and after each change", async () => {
  const { live, gateway, shown, timers, tick, settled } = open();
  await settled();
  expect(shown).toEqual([NOTHING]);
  expect(timers.map(({ ms }) => ms)).toEqual([2_000]);
  await tick();
  expect([gateway.polls, shown.length]).toEqual([2, 1]);
  gateway.now = withRun("coder");
  live.publish("s", start);
  live.publish("t", start);
  // One poll covers both events.
  expect(timers.map(({ ms }) => ms)).toEqual([250]);
  await tick();
  expect(shown).toEqual([NOTHING, withRun("coder")]);
  expect(timers.map(({ ms }) => ms)).toEqual([2_000]);
});

it("polls again soon after an event during a poll, but not after text deltas", async () => {
  const { live, timers, settled, gateway } = open();
  live.publish("s", start);
  await settled();
  expect(timers.map(({ ms }) => ms)).toEqual([250]);
  live.publish("s", { type: "text.delta", runId: "r", delta: "a" });
  expect(timers).toHaveLength(1);
  expect(gateway.polls).toBe(1);
});

it("continues after a failed poll and stops when the last viewer leaves", async () => {
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

it("shares one poll between all viewers", async () => {
  const { live, gateway, shown, timers, watch, leave, tick, settled } = open();
  await settled();
  const others: Activity[] = [];
  const leaveToo = watch(({ activity }) => others.push(activity));
  await settled();
  expect([gateway.polls, timers.length, others]).toEqual([1, 1, [NOTHING]]);
  gateway.now = withRun("coder");
  live.publish("s", start);
  await tick();
  expect([gateway.polls, others]).toEqual([2, shown]);
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
