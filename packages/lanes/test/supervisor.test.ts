import { describe, expect, it } from "vitest";
import { createSupervisor, exponentialBackoff, type SupervisorOptions, type Task } from "../src/index.ts";
import { createManualClock } from "../src/testkit/index.ts";

class Passing extends Error {}
class Fatal extends Error {}

/** A supervisor whose log of retries, ends and fatal errors can be read. */
function harness(options: Partial<SupervisorOptions> = {}) {
  const clock = createManualClock();
  const log: string[] = [];
  const supervisor = createSupervisor({
    clock,
    judge: (error) => (error instanceof Fatal ? "fatal" : error instanceof Passing ? "retry" : "give-up"),
    backoff: exponentialBackoff({ firstMs: 1_000, longestMs: 4_000 }),
    onRetry: (task, _, delayMs) => log.push(`${task} again in ${delayMs}`),
    onGiveUp: (task) => log.push(`${task} given up`),
    onFatal: () => log.push("fatal"),
    ...options,
  });
  return { supervisor, clock, log };
}

/** Fails so many times with these errors, and is done after that. */
function failing(errors: readonly Error[], more: Partial<Task> = {}): Task & { readonly attempts: number[] } {
  const left = [...errors];
  const attempts: number[] = [];
  return {
    name: "work",
    attempts,
    async attempt(failures) {
      attempts.push(failures);
      const error = left.shift();
      if (error !== undefined) throw error;
    },
    ...more,
  };
}

describe("work that fails in passing", () => {
  it("is attempted again after ever longer times, until it is done", async () => {
    const { supervisor, clock, log } = harness();
    const task = failing(Array.from({ length: 4 }, () => new Passing()));
    const end = supervisor.run(task);
    await clock.advance(10_999);
    expect(task.attempts).toEqual([0, 1, 2, 3]);
    await clock.advance(1);
    expect(await end).toEqual({ outcome: "done" });
    expect(log).toEqual(
      ["again in 1000", "again in 2000", "again in 4000", "again in 4000"].map((one) => `work ${one}`),
    );
  });

  it("tells when it waits for its next attempt", async () => {
    const { supervisor, clock } = harness();
    const waits: boolean[] = [];
    const end = supervisor.run(failing([new Passing()], { onWaiting: (on) => waits.push(on) }));
    await clock.advance(500);
    expect(waits).toEqual([true]);
    await clock.advance(500);
    await end;
    expect(waits).toEqual([true, false]);
  });

  it("is looked at every two seconds while somebody else is at it, which is no failure", async () => {
    const { supervisor, clock, log } = harness({
      judge: (error, failures) => (error instanceof Passing ? "wait" : failures > 0 ? "give-up" : "retry"),
    });
    const task = failing([...Array.from({ length: 100 }, () => new Passing()), new Error("a failure")]);
    const end = supervisor.run(task);
    await clock.advance(199_999);
    expect([task.attempts.length, log]).toEqual([100, []]);
    await clock.advance(1_001);
    expect(await end).toEqual({ outcome: "done" });
    expect(log).toEqual(["work again in 1000"]);
  });

  it("is left for whoever starts next once the supervisor closes, and waits for nothing", async () => {
    const { supervisor, clock } = harness();
    const task = failing([new Passing(), new Passing()]);
    const end = supervisor.run(task);
    await clock.advance(500);
    supervisor.close();
    expect(await end).toMatchObject({ outcome: "stopped" });
    await supervisor.idle();
    expect(clock.pending()).toBe(0);
    expect(task.attempts).toEqual([0]);
    // What comes later is attempted once.
    expect(await supervisor.run(failing([new Passing()]))).toMatchObject({ outcome: "stopped" });
    expect(await supervisor.run(failing([]))).toEqual({ outcome: "done" });
  });
});

describe("work that can never go well", () => {
  it("is given up, and brought to another end", async () => {
    const { supervisor, log } = harness();
    const given: unknown[] = [];
    const error = new Error("no such thing");
    const end = await supervisor.run(failing([error], { giveUp: async (why) => void given.push(why) }));
    expect(end).toEqual({ outcome: "given-up", error });
    expect(given).toEqual([error]);
    expect(log).toEqual(["work given up"]);
  });

  it("is attempted again where it cannot even be given up", async () => {
    const { supervisor, clock, log } = harness();
    const task = failing([new Error("no such thing")], {
      giveUp: async () => {
        throw new Error("nor that");
      },
    });
    const end = supervisor.run(task);
    await clock.advance(1_000);
    expect(await end).toEqual({ outcome: "done" });
    expect(log).toEqual(["work given up", "work again in 1000"]);
  });

  it("is found out by how often it failed, where the work says so itself", async () => {
    const { supervisor, clock } = harness();
    const task = failing(
      Array.from({ length: 9 }, () => new Passing()),
      {
        judge: (_, failures) => (failures >= 2 ? "give-up" : "retry"),
      },
    );
    const end = supervisor.run(task);
    await clock.advance(10_000);
    expect(await end).toMatchObject({ outcome: "given-up" });
    expect(task.attempts).toEqual([0, 1, 2]);
  });
});

it("tells of what ends the process, also where it shows only when work is given up", async () => {
  const { supervisor, log } = harness();
  expect(await supervisor.run(failing([new Fatal()]))).toMatchObject({ outcome: "fatal" });
  const giveUp = async (): Promise<void> => {
    throw new Fatal();
  };
  expect(await supervisor.run(failing([new Error("no")], { giveUp }))).toMatchObject({ outcome: "fatal" });
  expect(log).toEqual(["fatal", "work given up", "fatal"]);
});

it("is idle when all that is under way has ended", async () => {
  const { supervisor } = harness();
  const { promise, resolve } = Promise.withResolvers<void>();
  let idle = false;
  void supervisor.run({ name: "work", attempt: () => promise });
  const waiting = supervisor.idle().then(() => {
    idle = true;
  });
  await Promise.resolve();
  expect(idle).toBe(false);
  resolve();
  await waiting;
});

it("leaves up to half of each wait to chance", () => {
  const backoff = exponentialBackoff({ firstMs: 1_000, longestMs: 60_000, random: () => 0 });
  expect([1, 2, 3, 20].map(backoff)).toEqual([500, 1_000, 2_000, 30_000]);
});

it("ends work where whoever is told of what ends the process fails", async () => {
  const { supervisor } = harness({
    onFatal: () => {
      throw new Error("it cannot be stopped yet");
    },
  });
  expect(await supervisor.run(failing([new Fatal()]))).toMatchObject({ outcome: "fatal" });
  await supervisor.idle();
});
