import { describe, expect, it } from "vitest";
import { ChannelError, createBackfill, createMemoryState } from "../index.ts";

const start = 1_800_000_000_000;
const never = new AbortController().signal;

function open(state = createMemoryState(), botId = "bot-1") {
  let now = start;
  const read: [string, number][] = [];
  const taken: string[] = [];
  const backfill = createBackfill<string>({
    state,
    botId,
    clock: { now: () => now, delay: async () => {} },
    read: async (conversation, since) => {
      read.push([conversation, now - since]);
      if (conversation === "left") throw new ChannelError("not_found", "the bot is not in it any more");
      if (conversation === "down") throw new ChannelError("transient", "no answer");
      return [`${conversation} 1`, `${conversation} 2`];
    },
    take: async (message) => void taken.push(message),
    mostConversations: 2,
  });
  return { state, backfill, read, taken, pass: (ms: number) => (now += ms) };
}

describe("backfill", () => {
  it("reads nothing on a first start", async () => {
    const { backfill, read } = open();
    await backfill.catchUp({ signal: never });
    expect(read).toEqual([]);
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
    const { backfill, read, pass } = open();
    for (const [conversation, ago] of [
      ["old", 90_000_000],
      ["a", 3000],
      ["b", 2000],
      ["c", 1000],
    ] as const)
      await backfill.note(conversation, start - ago);
    pass(1000);
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
    await backfill.flush();
    expect(await state.get("bot-1/watermarks")).toEqual({ conversations: { a: start - 901 } });
  });

  it("goes on to the next conversation where one cannot be read any more, and not where the platform is away", async () => {
    const { backfill, taken } = open();
    await backfill.note("left", start - 1_000);
    await backfill.note("a", start - 2_000);
    await backfill.catchUp({ signal: never });
    expect(taken).toEqual(["a 1", "a 2"]);
    await backfill.note("down", start - 500);
    await expect(backfill.catchUp({ signal: never })).rejects.toMatchObject({ code: "transient" });
  });
});
