import { expect, it } from "vitest";
import { createHistories, createMemoryRuns } from "../src/index.ts";

const KEY = "agent:main:plain:direct:anna";
const lease = { name: "gateway", epoch: 1 };

it("reads a conversation once, and again when somebody else has written in it", async () => {
  const memory = createMemoryRuns();
  const histories = createHistories(memory.sessions);
  memory.begin(KEY, lease, [{ role: "user", content: "one", timestamp: 1 }]);
  const first = { generation: 0, lastSeq: 1 };
  const history = await histories.load(KEY, first);
  histories.keep(KEY, 0, history);
  expect(await histories.load(KEY, first)).toMatchObject({ messages: history.messages, places: [1] });
  expect((await histories.load(KEY, first)).messages[0]).toBe(history.messages[0]);
  memory.begin(KEY, lease, [{ role: "user", content: "two", timestamp: 2 }]);
  expect(await histories.load(KEY, { generation: 0, lastSeq: 2 })).toMatchObject({ places: [1, 2] });
});

it("gives nothing of a conversation that was removed to the next one of its key", async () => {
  const before = createMemoryRuns();
  const after = createMemoryRuns();
  let sessions = before.sessions;
  const histories = createHistories({ history: (key) => sessions.history(key) });
  before.begin(KEY, lease, [{ role: "user", content: "the first conversation", timestamp: 1 }]);
  const state = { generation: 0, lastSeq: 1 };
  histories.keep(KEY, 0, await histories.load(KEY, state));

  sessions = after.sessions;
  expect(await histories.load(KEY, undefined)).toEqual({ messages: [], places: [] });
  after.begin(KEY, lease, [{ role: "user", content: "the second one", timestamp: 1 }]);
  expect((await histories.load(KEY, state)).messages).toMatchObject([{ content: "the second one" }]);
});
