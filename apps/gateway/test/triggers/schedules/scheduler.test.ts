import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryScheduleStore, type ScheduleStore } from "../../../src/triggers/schedules/schedule.ts";
import { createScheduler, type Scheduler } from "../../../src/triggers/schedules/scheduler.ts";
import { type FakeClock, fakeClock } from "./clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 1);

interface Bench {
  readonly clock: FakeClock;
  readonly store: ScheduleStore<string>;
  readonly warnings: string[];
  /** What was handed over, as `id@minutes since the start`. */
  readonly fired: string[];
  answer: "taken" | "later" | "throw";
  /** A process, over the same store unless it has one of its own. */
  start(store?: ScheduleStore<string>): Promise<Scheduler<string>>;
}

function bench(): Bench {
  const clock = fakeClock(START);
  const store = createMemoryScheduleStore<string>();
  const made: Bench = {
    clock,
    store,
    warnings: [],
    fired: [],
    answer: "taken",
    async start(given = store) {
      const logger = { warn: (_: object, message: string) => void made.warnings.push(message) };
      const scheduler = createScheduler<string>({ clock, store: given, logger });
      await scheduler.start(async ({ schedule, dueAt }) => {
        if (made.answer === "throw") throw new Error("the store is gone");
        if (made.answer === "taken") made.fired.push(`${schedule.id}@${(dueAt - START) / MINUTE}`);
        return made.answer;
      });
      return scheduler;
    },
  };
  return made;
}

const hourly = (id: string, missed: "once" | "skip" = "once") =>
  ({ id, missed, task: id, when: { kind: "every", everyMs: HOUR, from: START } }) as const;

describe("a scheduler", () => {
  it("does not fire a paused schedule, even after a restart, and skips the times of the pause", async () => {
    const { clock, fired, start } = bench();
    const first = await start();
    await first.add(hourly("a"));
    await first.add({ id: "b", missed: "once", task: "b", when: { kind: "at", at: START + 30 * MINUTE } });
    expect(await first.pause("a", true)).toBe(true);
    expect(await first.pause("b", true)).toBe(true);
    expect(await first.pause("c", true)).toBe(false);
    await clock.pass(2 * HOUR);
    await first.stop();
    const second = await start();
    await clock.pass(2 * HOUR);
    expect(fired).toEqual([]);
    expect(await second.run("a", "by hand")).toBe("taken");
    expect(fired).toEqual(["a@240"]);
    await second.pause("a", false);
    // No time is left for `b`.
    await second.pause("b", false);
    expect(second.list().map(({ id, paused }) => [id, paused])).toEqual([["a", undefined]]);
    await clock.pass(HOUR);
    expect(fired).toEqual(["a@240", "a@300"]);
  });

  it("hands each occurrence over once, at its time", async () => {
    const { clock, fired, start, store } = bench();
    const scheduler = await start();
    await scheduler.add(hourly("a"));
    await scheduler.add({
      id: "b",
      missed: "once",
      task: "b",
      when: { kind: "at", at: START + 90 * MINUTE },
    });
    await clock.pass(3 * HOUR);
    expect(fired).toEqual(["a@60", "b@90", "a@120", "a@180"]);
    expect((await store.list()).map(({ id }) => id)).toEqual(["a"]);
    await scheduler.stop();
    await clock.pass(HOUR);
    expect(fired).toHaveLength(4);
  });

  it("leaves the schedules of another process alone, and takes them over on request", async () => {
    const { clock, store } = bench();
    const fired: string[] = [];
    const owners = new Map([
      ["a", "one"],
      ["b", "two"],
    ]);
    const process = async (name: string) => {
      const isOwn = (task: string) => owners.get(task) === name;
      const scheduler = createScheduler<string>({ clock, store, logger: { warn: () => {} }, isOwn });
      await scheduler.start(async ({ schedule: { id } }) => {
        fired.push(`${id} at ${name}`);
        return "taken";
      });
      return scheduler;
    };
    const before = await process("one");
    await before.add(hourly("a"));
    const [one, two] = [await process("one"), await process("two")];
    await before.stop();
    await two.add(hourly("b"));
    await clock.pass(HOUR);
    expect(fired.sort()).toEqual(["a at one", "b at two"]);
    owners.set("a", "two");
    await Promise.all([one.reload(), two.reload()]);
    expect(one.list()).toEqual([]);
    await two.remove("a");
    // Nobody writes the removed schedule again when its next occurrence would have been due.
    await clock.pass(2 * HOUR);
    expect((await store.list()).map(({ id }) => id)).toEqual(["b"]);
    expect(fired.filter((each) => each.startsWith("a"))).toEqual(["a at one"]);
  });

  it("does not load a schedule again that is being removed", async () => {
    const { clock, store } = bench();
    const removing = Promise.withResolvers<void>();
    const slow: typeof store = {
      ...store,
      async remove(id) {
        await removing.promise;
        await store.remove(id);
      },
    };
    const scheduler = createScheduler<string>({ clock, store: slow, logger: { warn: () => {} } });
    await scheduler.start(async () => "taken");
    await scheduler.add(hourly("a"));
    const removed = scheduler.remove("a");
    await scheduler.reload();
    removing.resolve();
    await removed;
    expect(scheduler.list()).toEqual([]);
  });

  it("stops only once what was made to happen beside its times is on record", async () => {
    const { clock, store } = bench();
    const scheduler = createScheduler<string>({ clock, store, logger: { warn: () => {} } });
    const recorded = Promise.withResolvers<"taken">();
    await scheduler.start(() => recorded.promise);
    await scheduler.add(hourly("a"));
    const run = scheduler.run("a");
    let isStopped = false;
    const stopping = scheduler.stop().then(() => {
      isStopped = true;
    });
    await clock.pass(0);
    expect(isStopped).toBe(false);
    recorded.resolve("taken");
    await stopping;
    expect(await run).toBe("taken");
  });

  it("makes up for the last of those that were missed, or leaves all out, as each says", async () => {
    const { clock, fired, warnings, start } = bench();
    const first = await start();
    await first.add(hourly("made-up"));
    await first.add(hourly("left-out", "skip"));
    await first.stop();
    clock.set(START + 5 * HOUR + 10 * MINUTE);
    await start();
    await clock.pass(MINUTE);
    expect(fired).toEqual(["made-up@60"]);
    expect(warnings).toEqual(["a schedule was missed"]);
    await clock.pass(50 * MINUTE);
    expect(fired).toEqual(
      ["made-up@60", "left-out@360", "made-up@360"].toSorted((a, b) => fired.indexOf(a) - fired.indexOf(b)),
    );
    expect(fired).toHaveLength(3);
  });

  it("repeats nothing when the clock is set back, and notices when it is set ahead", async () => {
    const { clock, fired, start } = bench();
    const scheduler = await start();
    await scheduler.add(hourly("a"));
    await clock.pass(HOUR);
    clock.set(START + 10 * MINUTE);
    await clock.pass(55 * MINUTE);
    expect(fired).toEqual(["a@60"]);
    clock.set(START + 5 * HOUR);
    await clock.pass(2 * MINUTE);
    expect(fired).toEqual(["a@60", "a@120"]);
  });

  it.each(["later", "throw"] as const)(
    "tries again what is not taken (%s), and keeps its time",
    async (answer) => {
      const made = bench();
      const scheduler = await made.start();
      await scheduler.add(hourly("a"));
      made.answer = answer;
      await made.clock.pass(HOUR + 3 * MINUTE);
      expect(made.fired).toEqual([]);
      made.answer = "taken";
      await made.clock.pass(MINUTE);
      expect(made.fired).toEqual(["a@60"]);
    },
  );

  it("lets go of what is removed or replaced, and runs one beside its times", async () => {
    const { clock, fired, start } = bench();
    const scheduler = await start();
    await scheduler.add(hourly("a"));
    await scheduler.add({ ...hourly("a"), when: { kind: "every", everyMs: 2 * HOUR, from: START } });
    await clock.pass(2 * HOUR);
    expect(fired).toEqual(["a@120"]);
    expect(await scheduler.run("a")).toBe("taken");
    expect(await scheduler.remove("a")).toBe(true);
    expect(await scheduler.remove("a")).toBe(false);
    expect(await scheduler.run("a")).toBe("unknown");
    await clock.pass(9 * HOUR);
    expect(fired).toEqual(["a@120", "a@120"]);
  });

  it("does not bring back what is removed while it is handed over", async () => {
    const { clock, store } = bench();
    const removing = Promise.withResolvers<void>();
    const slow: ScheduleStore<string> = {
      ...store,
      async remove(id) {
        await store.remove(id);
        await removing.promise;
      },
    };
    const scheduler = createScheduler<string>({ clock, store: slow, logger: { warn: () => {} } });
    let removed: Promise<boolean> | undefined;
    await scheduler.start(async () => {
      removed = scheduler.remove("a");
      return "taken";
    });
    await scheduler.add(hourly("a"));
    await clock.pass(HOUR);
    removing.resolve();
    expect(await removed).toBe(true);
    expect([scheduler.list(), await store.list()]).toEqual([[], []]);
  });

  it("keeps what could not be removed", async () => {
    const { clock, fired, store, start } = bench();
    const full = { ...store, remove: () => Promise.reject(new Error("the disk is full")) };
    const scheduler = await start(full);
    await scheduler.add(hourly("a"));
    await expect(scheduler.remove("a")).rejects.toThrow("the disk is full");
    await clock.pass(HOUR);
    expect(fired).toEqual(["a@60"]);
  });

  it("property: whenever it dies, what is put on record as handed over was, and comes again as the same", async () => {
    const life = fc.record({ minutes: fc.integer({ min: 1, max: 150 }), isKept: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(life, { maxLength: 12 }), async (lives) => {
        const { clock, fired, store, start } = bench();
        const first = await start();
        await first.add(hourly("a"));
        await first.stop();
        for (const { minutes, isKept } of lives) {
          // The process dies as it puts the next time on record, which is written by then, or is not.
          const put: typeof store.put = async (schedule) => {
            expect(fired).toContain(`a@${((schedule.lastAt ?? 0) - START) / MINUTE}`);
            if (isKept) await store.put(schedule);
            await new Promise<void>(() => {});
          };
          await start({ ...store, put });
          await clock.pass(minutes * MINUTE);
        }
        await start();
        await clock.pass(2 * HOUR);
        const last = (clock.now() - START) / MINUTE;
        expect(fired).toContain(`a@${Math.floor(last / 60) * 60}`);
        expect(fired.every((name) => Number(name.split("@")[1]) % 60 === 0)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("10,000 schedules cost nothing until one is due", async () => {
    const { clock, store, fired, start } = bench();
    for (let i = 0; i < 10_000; i++)
      await store.put({ ...hourly(`s${i}`), nextAt: START + HOUR * 24 * (1 + (i % 300)) });
    await start();
    await clock.pass(23 * HOUR);
    expect(fired).toEqual([]);
    await clock.pass(2 * HOUR);
    expect(fired).toHaveLength(34 * 2);
  });
});
