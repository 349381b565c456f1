import { describe, expect, it } from "vitest";
import { createSupervisor, exponentialBackoff, type Task } from "../src/index.ts";
import type { SupervisorOptions } from "../src/supervisor.ts";
import { createManualClock } from "../src/testkit/index.ts";

class Transient extends Error {}
class Fatal extends Error {}

/** A supervisor that logs retries, abandoned tasks and fatal errors. */
function harness(options: Partial<SupervisorOptions> = {}) {
  const clock = createManualClock();
  const log: string[] = [];
  const supervisor = createSupervisor({
    clock,
    retryPolicy: (error) =>
      error instanceof Fatal ? "fatal" : error instanceof Transient ? "retry" : "give_up",
    backoff: exponentialBackoff({ firstMs: 1_000, maxMs: 4_000 }),
    onRetry: (task, _, delayMs) => log.push(`${task} again in ${delayMs}`),
    onGiveUp: (task) => log.push(`${task} given up`),
    onFatal: () => log.push("fatal"),
    ...options,
  });
  return { supervisor, clock, log };
}

/** A task that fails with these errors, one per attempt, and then succeeds. */
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

describe("a task with transient failures", () => {
  it("is retried with increasing pauses until it succeeds", async () => {
    const { supervisor, clock, log } = harness();
    const task = failing(Array.from({ length: 4 }, () => new Transient()));
    const end = supervisor.run(task);
    await clock.advance(10_999);
    expect(task.attempts).toEqual([0, 1, 2, 3]);
    await clock.advance(1);
    expect(await end).toEqual({ outcome: "done" });
    expect(log).toEqual(
      ["again in 1000", "again in 2000", "again in 4000", "again in 4000"].map((one) => `work ${one}`),
    );
  });

  it("reports when it begins and stops waiting for its next attempt", async () => {
    const { supervisor, clock } = harness();
    const waits: boolean[] = [];
    const end = supervisor.run(failing([new Transient()], { onWaiting: (on) => waits.push(on) }));
    await clock.advance(500);
    expect(waits).toEqual([true]);
    await clock.advance(500);
    await end;
    expect(waits).toEqual([true, false]);
  });

  it("is checked every two seconds while another process holds it, without counting failures", async () => {
    const { supervisor, clock, log } = harness({
      retryPolicy: (error, failures) =>
        error instanceof Transient ? "wait" : failures > 0 ? "give_up" : "retry",
    });
    const task = failing([...Array.from({ length: 100 }, () => new Transient()), new Error("a failure")]);
    const end = supervisor.run(task);
    await clock.advance(199_999);
    expect([task.attempts.length, log]).toEqual([100, []]);
    await clock.advance(1_001);
    expect(await end).toEqual({ outcome: "done" });
    expect(log).toEqual(["work again in 1000"]);
  });

  it("is stopped without waiting when the supervisor closes", async () => {
    const { supervisor, clock } = harness();
    const task = failing([new Transient(), new Transient()]);
    const end = supervisor.run(task);
    await clock.advance(500);
    supervisor.close();
    expect(await end).toMatchObject({ outcome: "stopped" });
    await supervisor.idle();
    expect(clock.pending()).toBe(0);
    expect(task.attempts).toEqual([0]);
    // Tasks that start after close are attempted once.
    expect(await supervisor.run(failing([new Transient()]))).toMatchObject({ outcome: "stopped" });
    expect(await supervisor.run(failing([]))).toEqual({ outcome: "done" });
  });
});

describe("a task that can never succeed", () => {
  it("is given up and ended by giveUp", async () => {
    const { supervisor, log } = harness();
    const given: unknown[] = [];
    const error = new Error("no such thing");
    const end = await supervisor.run(failing([error], { giveUp: async (why) => void given.push(why) }));
    expect(end).toEqual({ outcome: "given_up", error });
    expect(given).toEqual([error]);
    expect(log).toEqual(["work given up"]);
  });

  it("is attempted again if giveUp fails", async () => {
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

  it("follows its own retry policy instead of the supervisor's", async () => {
    const { supervisor, clock } = harness();
    const task = failing(
      Array.from({ length: 9 }, () => new Transient()),
      {
        retryPolicy: (_, failures) => (failures >= 2 ? "give_up" : "retry"),
      },
    );
    const end = supervisor.run(task);
    await clock.advance(10_000);
    expect(await end).toMatchObject({ outcome: "given_up" });
    expect(task.attempts).toEqual([0, 1, 2]);
  });
});

it("reports a fatal error of an attempt and of giveUp", async () => {
  const { supervisor, log } = harness();
  expect(await supervisor.run(failing([new Fatal()]))).toMatchObject({ outcome: "fatal" });
  const giveUp = async (): Promise<void> => {
    throw new Fatal();
  };
  expect(await supervisor.run(failing([new Error("no")], { giveUp }))).toMatchObject({ outcome: "fatal" });
  expect(log).toEqual(["fatal", "work given up", "fatal"]);
});

it("is idle when all tasks have ended", async () => {
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

it("randomizes up to half of each pause", () => {
  const backoff = exponentialBackoff({ firstMs: 1_000, maxMs: 60_000, random: () => 0 });
  expect([1, 2, 3, 20].map(backoff)).toEqual([500, 1_000, 2_000, 30_000]);
});

it("ends the task even if onFatal throws", async () => {
  const { supervisor } = harness({
    onFatal: () => {
      throw new Error("it cannot be stopped yet");
    },
  });
  expect(await supervisor.run(failing([new Fatal()]))).toMatchObject({ outcome: "fatal" });
  await supervisor.idle();
});
