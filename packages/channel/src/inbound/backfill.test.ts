import { describe, expect, it } from "vitest";
import { ChannelError, createBackfill, createInMemoryState } from "../index.ts";
import { createAdjustableClock } from "../testkit/index.ts";

const start = 1_800_000_000_000;
const never = new AbortController().signal;

function open(state = createInMemoryState(), botId = "bot-1") {
  const clock = createAdjustableClock(start);
  const read: [string, number][] = [];
  const emitted: string[] = [];
  const away = new Set<string>();
  const held: { until?: Promise<void> } = {};
  let isFull = false;
  const backfill = createBackfill<string>({
    state,
    botId,
    clock,
    read: async (conversation, since) => {
      read.push([conversation, clock.now() - since]);
      await held.until;
      if (conversation === "left") throw new ChannelError("not_found", "the bot was removed");
      if (away.has(conversation)) throw new ChannelError("transient", "no answer");
      return [`${conversation} 1`, `${conversation} 2`];
    },
    emit: async (message) => {
      if (isFull) return "rejected";
      emitted.push(message);
      return "accepted";
    },
    maxConversations: 2,
  });
  return {
    state,
    backfill,
    read,
    emitted,
    away,
    held,
    clock,
    setFull: (full: boolean) => {
      isFull = full;
    },
  };
}

describe("a live event", () => {
  /** Emits a live event like a channel would. */
  function say({ backfill, emitted }: ReturnType<typeof open>, conversation: string): Promise<void> {
    return backfill.inOrder(conversation).then(() => void emitted.push(`${conversation} live`));
  }

  it("waits until the missed messages of its conversation were emitted", async () => {
    const bench = open();
    await bench.backfill.note("a", start - 1_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.held.until = promise;
    bench.backfill.expectGaps();
    const first = say(bench, "a");
    const second = say(bench, "a");
    const caughtUp = bench.backfill.catchUp({ signal: never });
    await expect.poll(() => bench.read.length).toBe(1);
    expect(bench.emitted).toEqual([]);
    resolve();
    await Promise.all([first, second, caughtUp]);
    expect(bench.emitted).toEqual(["a 1", "a 2", "a live", "a live"]);
    expect(bench.clock.pending).toBe(0);
  });

  it("has its conversation read before those that the pass has not reached", async () => {
    const bench = open();
    await bench.backfill.note("a", start - 1_000);
    await bench.backfill.note("b", start - 2_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.held.until = promise;
    const caughtUp = bench.backfill.catchUp({ signal: never });
    await expect.poll(() => bench.read.length).toBe(1);
    bench.held.until = undefined;
    await say(bench, "b");
    expect(bench.emitted).toEqual(["b 1", "b 2", "b live"]);
    resolve();
    await caughtUp;
    expect(bench.emitted).toEqual(["b 1", "b 2", "b live", "a 1", "a 2"]);
  });

  it("waits at most ten seconds for a conversation that cannot be read, and not at all without a gap", async () => {
    const bench = open();
    await bench.backfill.note("down", start - 1_000);
    bench.away.add("down");
    const caughtUp = bench.backfill.catchUp({ signal: never });
    await expect.poll(() => bench.clock.pending).toBe(1);
    await say(bench, "other");
    const waiting = say(bench, "down");
    await expect.poll(() => bench.clock.pending).toBe(2);
    expect(bench.emitted).toEqual(["other live"]);
    bench.clock.advance(10_000);
    await waiting;
    expect(bench.emitted).toEqual(["other live", "down live"]);
    await bench.backfill.stop();
    await caughtUp;
  });

  it("waits for the conversation to be read again if the connection broke during a read", async () => {
    const bench = open();
    await bench.backfill.note("a", start - 1_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.held.until = promise;
    const first = bench.backfill.catchUp({ signal: never });
    await expect.poll(() => bench.read.length).toBe(1);
    const waiting = say(bench, "a");
    bench.backfill.expectGaps();
    const second = bench.backfill.catchUp({ signal: never });
    await new Promise(setImmediate);
    resolve();
    await Promise.all([first, second, waiting]);
    expect(bench.read).toHaveLength(2);
    expect(bench.emitted.at(-1)).toBe("a live");
  });
});

describe("backfill", () => {
  it("reads nothing on the first start", async () => {
    const { backfill, read } = open();
    await backfill.catchUp({ signal: never });
    expect(read).toEqual([]);
  });

  it("limits the number of watermarks in memory", async () => {
    const kept = createInMemoryState();
    let writes = 0;
    const state = {
      ...kept,
      async set(...entry: Parameters<typeof kept.set>) {
        writes += 1;
        await kept.set(...entry);
      },
    };
    const { backfill } = open(state);
    for (let each = 0; each <= 20; each += 1) await backfill.note(`c${each}`, start - 30_000 + each);
    writes = 0;
    await backfill.note("c20", start - 1_000);
    expect(writes).toBe(0);
    // An evicted conversation counts as new, and watermarks of new conversations are stored immediately.
    await backfill.note("c0", start);
    expect(writes).toBe(1);
  });

  it("reads the messages since the last one of each conversation after a restart", async () => {
    const before = open();
    await before.backfill.note("a", start - 60_000);
    const after = open(before.state);
    await after.backfill.catchUp({ signal: never });
    expect(after.read).toEqual([["a", 75_000]]);
    expect(after.emitted).toEqual(["a 1", "a 2"]);
  });

  it("does not use the watermarks of another bot", async () => {
    const before = open();
    await before.backfill.note("a", start);
    const other = open(before.state, "bot-2");
    await other.backfill.catchUp({ signal: never });
    expect(other.read).toEqual([]);
  });

  it("reads at most one day back, and only the conversations with the latest messages", async () => {
    const { backfill, read, clock } = open();
    for (const [conversation, ago] of [
      ["old", 90_000_000],
      ["a", 3000],
      ["b", 2000],
      ["c", 1000],
    ] as const)
      await backfill.note(conversation, start - ago);
    clock.advance(1000);
    await backfill.catchUp({ signal: never, since: start });
    expect(read).toEqual([
      ["c", 16_000],
      ["b", 16_000],
    ]);
  });

  it("stores watermarks rarely while messages arrive, and all of them on stop", async () => {
    const { backfill, state } = open();
    let writes = 0;
    const { set } = state;
    state.set = async (...args) => {
      writes += 1;
      await set(...args);
    };
    for (let ms = 0; ms < 100; ms += 1) await backfill.note("a", start - 1000 + ms);
    expect(writes).toBe(1);
    await backfill.stop();
    expect(await state.get("bot-1/watermarks")).toEqual({ conversations: { a: start - 901 } });
  });

  it("skips a conversation that the bot was removed from", async () => {
    const { backfill, emitted } = open();
    await backfill.note("left", start - 1_000);
    await backfill.note("a", start - 2_000);
    await backfill.catchUp({ signal: never });
    expect(emitted).toEqual(["a 1", "a 2"]);
  });

  it("retries a failed conversation after the others, with growing delays", async () => {
    const { backfill, read, emitted, away, clock } = open();
    away.add("down");
    await backfill.note("down", start - 1_000);
    await backfill.note("a", start - 2_000);
    const caughtUp = backfill.catchUp({ signal: never });
    await expect.poll(() => clock.pending).toBe(1);
    expect(emitted).toEqual([]);
    clock.advance(1_000);
    await expect.poll(() => clock.pending).toBe(1);
    expect(emitted).toEqual(["a 1", "a 2"]);
    away.delete("down");
    clock.advance(1_000);
    expect(read.map(([conversation]) => conversation)).toEqual(["down", "a", "down"]);
    clock.advance(1_000);
    await caughtUp;
    expect(emitted).toEqual(["a 1", "a 2", "down 1", "down 2"]);
  });

  it("retries a message that the host rejects", async () => {
    const { backfill, emitted, clock, setFull } = open();
    await backfill.note("a", start - 1_000);
    setFull(true);
    const caughtUp = backfill.catchUp({ signal: never });
    await expect.poll(() => clock.pending).toBe(1);
    setFull(false);
    clock.advance(1_000);
    await caughtUp;
    expect(emitted).toEqual(["a 1", "a 2"]);
  });

  it("reads again for a new connection while a pass for a broken one is still running", async () => {
    const { backfill, read, held } = open();
    await backfill.note("a", start - 1_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    held.until = promise;
    const broken = new AbortController();
    const first = backfill.catchUp({ signal: broken.signal });
    await expect.poll(() => read.length).toBe(1);
    broken.abort();
    const second = backfill.catchUp({ signal: never });
    await new Promise(setImmediate);
    resolve();
    await Promise.all([first, second]);
    expect(read).toEqual([
      ["a", 16_000],
      ["a", 16_000],
    ]);
  });

  it("resumes at an unread gap after a restart, even if live messages arrived", async () => {
    const before = open();
    await before.backfill.note("a", start - 60_000);
    before.away.add("a");
    const caughtUp = before.backfill.catchUp({ signal: never });
    await expect.poll(() => before.clock.pending).toBe(1);
    await before.backfill.note("a", start);
    await before.backfill.stop();
    await caughtUp;
    expect(before.clock.pending).toBe(0);
    const after = open(before.state);
    await after.backfill.catchUp({ signal: never });
    expect(after.read).toEqual([["a", 90_000]]);
  });
});
