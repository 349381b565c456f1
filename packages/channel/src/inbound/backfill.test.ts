import { describe, expect, it } from "vitest";
import { ChannelError, createBackfill, createMemoryState } from "../index.ts";
import { turnedClock } from "../testkit/index.ts";

const start = 1_800_000_000_000;
const never = new AbortController().signal;

function open(state = createMemoryState(), botId = "bot-1") {
  const clock = turnedClock(start);
  const read: [string, number][] = [];
  const taken: string[] = [];
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
      if (conversation === "left") throw new ChannelError("not_found", "the bot is not in it any more");
      if (away.has(conversation)) throw new ChannelError("transient", "no answer");
      return [`${conversation} 1`, `${conversation} 2`];
    },
    take: async (message) => {
      if (isFull) return "rejected";
      taken.push(message);
      return "accepted";
    },
    mostConversations: 2,
  });
  return {
    state,
    backfill,
    read,
    taken,
    away,
    held,
    clock,
    setFull: (full: boolean) => {
      isFull = full;
    },
  };
}

describe("backfill", () => {
  it("reads nothing on a first start", async () => {
    const { backfill, read } = open();
    await backfill.catchUp({ signal: never });
    expect(read).toEqual([]);
  });

  it("has no more conversations at hand than it needs, however many there are", async () => {
    const kept = createMemoryState();
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
    // One that was forgotten is new again, and new ones are written at once.
    await backfill.note("c0", start);
    expect(writes).toBe(1);
  });

  it("reads after a restart what came since the last message of each conversation", async () => {
    const before = open();
    await before.backfill.note("a", start - 60_000);
    const after = open(before.state);
    await after.backfill.catchUp({ signal: never });
    expect(after.read).toEqual([["a", 75_000]]);
    expect(after.taken).toEqual(["a 1", "a 2"]);
  });

  it("starts afresh with another bot", async () => {
    const before = open();
    await before.backfill.note("a", start);
    const other = open(before.state, "bot-2");
    await other.backfill.catchUp({ signal: never });
    expect(other.read).toEqual([]);
  });

  it("reads no further back than a day, nor more than the newest conversations", async () => {
    const { backfill, read, clock } = open();
    for (const [conversation, ago] of [
      ["old", 90_000_000],
      ["a", 3000],
      ["b", 2000],
      ["c", 1000],
    ] as const)
      await backfill.note(conversation, start - ago);
    clock.turn(1000);
    await backfill.catchUp({ signal: never, since: start });
    expect(read).toEqual([
      ["c", 16_000],
      ["b", 16_000],
    ]);
  });

  it("writes seldom while messages come, and all at the end", async () => {
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

  it("goes on to the next conversation where one cannot be read any more", async () => {
    const { backfill, taken } = open();
    await backfill.note("left", start - 1_000);
    await backfill.note("a", start - 2_000);
    await backfill.catchUp({ signal: never });
    expect(taken).toEqual(["a 1", "a 2"]);
  });

  it("tries again, after the others and ever later, where the platform is away", async () => {
    const { backfill, read, taken, away, clock } = open();
    away.add("down");
    await backfill.note("down", start - 1_000);
    await backfill.note("a", start - 2_000);
    const caughtUp = backfill.catchUp({ signal: never });
    await expect.poll(() => clock.waiting).toBe(1);
    expect(taken).toEqual([]);
    clock.turn(1_000);
    await expect.poll(() => clock.waiting).toBe(1);
    expect(taken).toEqual(["a 1", "a 2"]);
    away.delete("down");
    clock.turn(1_000);
    expect(read.map(([conversation]) => conversation)).toEqual(["down", "a", "down"]);
    clock.turn(1_000);
    await caughtUp;
    expect(taken).toEqual(["a 1", "a 2", "down 1", "down 2"]);
  });

  it("tries again what its host does not take for now", async () => {
    const { backfill, taken, clock, setFull } = open();
    await backfill.note("a", start - 1_000);
    setFull(true);
    const caughtUp = backfill.catchUp({ signal: never });
    await expect.poll(() => clock.waiting).toBe(1);
    setFull(false);
    clock.turn(1_000);
    await caughtUp;
    expect(taken).toEqual(["a 1", "a 2"]);
  });

  it("reads for a new connection where it still reads for one that broke", async () => {
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

  it("begins at the next start where it could not read, whatever came in live meanwhile", async () => {
    const before = open();
    await before.backfill.note("a", start - 60_000);
    before.away.add("a");
    const caughtUp = before.backfill.catchUp({ signal: never });
    await expect.poll(() => before.clock.waiting).toBe(1);
    await before.backfill.note("a", start);
    await before.backfill.stop();
    await caughtUp;
    expect(before.clock.waiting).toBe(0);
    const after = open(before.state);
    await after.backfill.catchUp({ signal: never });
    expect(after.read).toEqual([["a", 90_000]]);
  });
});
