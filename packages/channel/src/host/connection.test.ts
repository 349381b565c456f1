import { describe, expect, it } from "vitest";
import { ChannelError, type Clock, type Connection, superviseConnection } from "../index.ts";
import { turns } from "../testkit/bench.ts";
import type { ConnectionTiming } from "./connection.ts";

/** A clock that advances only by `pass`. */
function createClock() {
  let now = 1_000_000;
  const waiting = new Set<{ at: number; resolve(): void }>();
  const clock: Clock = {
    now: () => now,
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        const entry = { at: now + ms, resolve };
        waiting.add(entry);
        signal?.addEventListener("abort", () => {
          waiting.delete(entry);
          reject(signal.reason);
        });
      }),
  };
  return {
    clock,
    waiting,
    async pass(ms: number): Promise<void> {
      now += ms;
      for (const entry of [...waiting]) {
        if (entry.at > now) continue;
        waiting.delete(entry);
        entry.resolve();
      }
      await turns();
    },
  };
}

const quiet = () => {};
const timing = {
  attemptMs: 1000,
  pauseMs: 100,
  maxPauseMs: 400,
  probe: { everyMs: 5000, withinMs: 500 },
};

function supervised(
  open: (attempt: number, signal: AbortSignal) => Promise<Connection>,
  reconnected: () => Promise<void> = async () => {},
  times: ConnectionTiming = timing,
) {
  const { clock, pass, waiting } = createClock();
  let attempts = 0;
  const gaps: number[] = [];
  const connection = superviseConnection({
    name: "Echo",
    open: (signal) => {
      attempts += 1;
      return open(attempts, signal);
    },
    reconnected: (lostAt) => {
      gaps.push(lostAt);
      return reconnected();
    },
    timing: times,
    clock,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    random: () => 1,
  });
  return { connection, clock, pass, waiting, gaps, attempts: () => attempts, now: () => clock.now() };
}

function openConnection(): { value: Connection; lose(): void; closed(): number } {
  const lost = Promise.withResolvers<void>();
  let closed = 0;
  const close = () => {
    closed += 1;
    lost.resolve();
  };
  return { value: { lost: lost.promise, close }, lose: lost.resolve, closed: () => closed };
}

const never = new AbortController().signal;

describe("superviseConnection", () => {
  it("reopens a lost connection and reports since when events may have been missed", async () => {
    const [first, second] = [openConnection(), openConnection()];
    const bench = supervised(async (attempt) => (attempt === 1 ? first : second).value);
    await bench.connection.start(never);
    expect(bench.connection.health()).toEqual({ state: "ready" });
    first.lose();
    await turns();
    const lostAt = bench.now();
    expect(bench.connection.health()).toMatchObject({ state: "down", retryAt: lostAt + 100 });
    await bench.pass(100);
    expect(bench.connection.health()).toEqual({ state: "ready" });
    expect(bench.gaps).toEqual([lostAt]);
    bench.connection.stop();
    await turns();
    expect(second.closed()).toBeGreaterThan(0);
    expect(bench.waiting.size).toBe(0);
  });

  it("ends an attempt after its time limit, and closes a connection that it opens later", async () => {
    const late = Promise.withResolvers<Connection>();
    const { value, closed } = openConnection();
    const bench = supervised(() => late.promise);
    const starting = expect(bench.connection.start(never)).rejects.toMatchObject({ code: "transient" });
    await bench.pass(1000);
    await starting;
    late.resolve(value);
    await turns();
    expect(closed()).toBe(1);
  });

  it.each([
    { times: timing, expected: [100, 200, 400, 400, 400, 400, 400] },
    { times: {}, expected: [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] },
  ])(
    "doubles the delay after each failure, from one to 30 seconds, also while the credentials are rejected",
    async ({ times, expected }) => {
      const first = openConnection();
      const open = async (attempt: number) => {
        if (attempt === 1) return first.value;
        throw new ChannelError(attempt > 4 ? "auth" : "transient", "no");
      };
      const bench = supervised(open, undefined, times);
      await bench.connection.start(never);
      first.lose();
      await turns();
      const pauses: number[] = [];
      for (let round = 0; round < expected.length; round += 1) {
        const health = bench.connection.health();
        const pause = health.state === "down" ? (health.retryAt ?? 0) - bench.now() : 0;
        pauses.push(pause);
        await bench.pass(pause);
      }
      expect(pauses).toEqual(expected);
      bench.connection.stop();
    },
  );

  it.each([
    [
      "with growing delays if connections break immediately, until one lasts",
      false,
      [100, 200, 400, 400, 100],
    ],
    ["with the first delay if the host closed the connection itself", true, [100, 100, 100, 100, 100]],
  ])("reconnects %s", async (_how, isOfHost, expected) => {
    const opened: ReturnType<typeof openConnection>[] = [];
    const bench = supervised(async () => {
      const next = openConnection();
      opened.push(next);
      return next.value;
    });
    await bench.connection.start(never);
    const pauses: number[] = [];
    for (const stoodMs of [0, 0, 0, 0, timing.attemptMs]) {
      await bench.pass(stoodMs);
      if (isOfHost) bench.connection.startOver();
      opened.at(-1)?.lose();
      await turns();
      const health = bench.connection.health();
      const pause = health.state === "down" ? (health.retryAt ?? 0) - bench.now() : 0;
      pauses.push(pause);
      await bench.pass(pause);
    }
    expect(pauses).toEqual(expected);
    bench.connection.stop();
  });

  it("watches the connection while missed events are read", async () => {
    const [first, second] = [openConnection(), openConnection()];
    const bench = supervised(
      async (attempt) => [first, second, openConnection()][attempt - 1]?.value ?? openConnection().value,
      () => new Promise(() => {}),
    );
    await bench.connection.start(never);
    first.lose();
    await turns();
    await bench.pass(100);
    second.lose();
    await turns();
    expect(bench.connection.health()).toMatchObject({ state: "down" });
    bench.connection.stop();
  });

  it("reports why reconnecting failed, and respects retryAfterMs", async () => {
    const first = openConnection();
    const bench = supervised(async (attempt) => {
      if (attempt === 1) return first.value;
      throw new ChannelError("transient", "Echo: no more today", { retryAfterMs: 90_000 });
    });
    await bench.connection.start(never);
    first.lose();
    await turns();
    await bench.pass(100);
    expect(bench.connection.health()).toEqual({
      state: "down",
      reason: "Echo: no more today",
      retryAt: bench.now() + 90_000,
    });
    bench.connection.stop();
  });

  it("treats a connection that does not respond to a probe as lost", async () => {
    const silent = openConnection();
    let probes = 0;
    const probe = () => {
      probes += 1;
      return probes === 1 ? Promise.resolve() : new Promise<never>(() => {});
    };
    const bench = supervised(async (attempt) =>
      attempt === 1 ? { ...silent.value, probe } : openConnection().value,
    );
    await bench.connection.start(never);
    await bench.pass(5000);
    expect(bench.connection.health()).toEqual({ state: "ready" });
    const respondedAt = bench.now();
    await bench.pass(5000);
    await bench.pass(500);
    expect(bench.connection.health()).toMatchObject({ state: "down" });
    expect(silent.closed()).toBe(1);
    await bench.pass(100);
    expect(bench.attempts()).toBe(2);
    // Events may have been missed since the last response, long before the connection was considered lost.
    expect(bench.gaps).toEqual([respondedAt]);
    bench.connection.stop();
    expect(bench.connection.health()).toEqual({ state: "stopped" });
  });

  it("keeps a connection that responds to probes just in time", async () => {
    const slow = openConnection();
    let probes = 0;
    const bench = supervised(async () => ({
      ...slow.value,
      probe() {
        probes += 1;
        return bench.clock.delay(timing.probe.withinMs - 1, never);
      },
    }));
    await bench.connection.start(never);
    for (const _ of [1, 2, 3]) {
      await bench.pass(timing.probe.everyMs);
      await bench.pass(timing.probe.withinMs - 1);
      await bench.pass(1);
    }
    expect(probes).toBe(3);
    expect(bench.connection.health()).toEqual({ state: "ready" });
    expect([slow.closed(), bench.attempts()]).toEqual([0, 1]);
    bench.connection.stop();
  });

  it("does not start if the signal has already fired", async () => {
    const bench = supervised(async () => openConnection().value);
    await expect(bench.connection.start(AbortSignal.abort())).rejects.toThrow();
    expect(bench.attempts()).toBe(0);
  });
});
