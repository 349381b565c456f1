import { expect, it } from "vitest";
import { createHistories } from "../src/index.ts";
import { openRuns } from "./open-runs.ts";

const KEY = "agent:main:plain:direct:anna";

it("reads a conversation once, and again if another process has added messages", async () => {
  const memory = await openRuns();
  const histories = createHistories(memory.store.sessions);
  await memory.append(KEY, [{ role: "user", content: "one", timestamp: 1 }]);
  const first = { generation: 0, lastSeq: 1 };
  const history = await histories.load(KEY, first);
  histories.keep(KEY, 0, history);
  expect(await histories.load(KEY, first)).toMatchObject({ messages: history.messages, seqs: [1] });
  expect((await histories.load(KEY, first)).messages[0]).toBe(history.messages[0]);
  await memory.append(KEY, [{ role: "user", content: "two", timestamp: 2 }]);
  expect(await histories.load(KEY, { generation: 0, lastSeq: 2 })).toMatchObject({ seqs: [1, 2] });
});

it("does not serve a removed conversation to a new session under its key", async () => {
  const before = await openRuns();
  const after = await openRuns();
  let { sessions } = before.store;
  const histories = createHistories({ history: (key) => sessions.history(key) });
  await before.append(KEY, [{ role: "user", content: "the first conversation", timestamp: 1 }]);
  const state = { generation: 0, lastSeq: 1 };
  histories.keep(KEY, 0, await histories.load(KEY, state));

  sessions = after.store.sessions;
  expect(await histories.load(KEY, undefined)).toEqual({ messages: [], seqs: [] });
  await after.append(KEY, [{ role: "user", content: "the second one", timestamp: 1 }]);
  expect((await histories.load(KEY, state)).messages).toMatchObject([{ content: "the second one" }]);
});

it("limits the size of one conversation and of all, and evicts the least recently used", async () => {
  let reads = 0;
  const histories = createHistories({
    async history() {
      reads += 1;
      return [];
    },
  });
  const state = { generation: 0, lastSeq: 1 };
  const keep = (key: string, megabytes: number): void => {
    const data = "x".repeat(megabytes * 1_000_000);
    const content = [{ type: "image", mimeType: "image/png", source: { kind: "base64", data } }] as const;
    histories.keep(key, 0, { messages: [{ role: "user", content, timestamp: 1 }], seqs: [1] });
  };
  const isCached = async (key: string): Promise<boolean> => {
    const before = reads;
    await histories.load(key, state);
    return reads === before;
  };
  keep("too large", 5);
  expect(await isCached("too large")).toBe(false);
  for (const key of ["a", "b", "c", "d", "e", "f"]) keep(key, 3);
  const cached = [];
  for (const key of ["a", "b", "c", "d", "e", "f"]) if (await isCached(key)) cached.push(key);
  expect(cached).toEqual(["b", "c", "d", "e", "f"]);
});
