import { REPLY_FILTER } from "@signalbox/prompt";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import type { Exchange } from "../messages/exchanges.ts";
import type { GatewayBodies } from "../store.ts";
import { type HistoryPorts, readHistory } from "./conversation-history.ts";

const KEY = "agent:main:slack:direct:U1";
const COUNT = 1_203;

/** A session with more messages than two pages hold, one per second, and a command between two of them. */
async function openLongSession(exchanges: readonly Exchange[]) {
  let now = 0;
  const store = await openStore<GatewayBodies>({ path: ":memory:", clock: () => now });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 3_600_000_000);
  if (lease === undefined) throw new Error("no lease");
  await store.sessions.ensure({
    ...{ key: KEY, agentId: "main", channel: "slack", account: "main", kind: "direct", peer: "U1" },
  });
  for (let index = 0; index < COUNT; index += 1) {
    now = index * 1_000;
    const content = [{ type: "text" as const, text: `Message ${index}` }];
    await store.sessions.append(KEY, [{ role: "user", content, timestamp: now }], lease);
  }
  const reader = { list: async () => exchanges } as unknown as HistoryPorts["exchanges"];
  return (before?: number) => readHistory({ store, exchanges: reader, filter: REPLY_FILTER }, KEY, before);
}

it("pages through a long transcript, with each message and command once", async () => {
  const commands = [1_500, 600_500, 702_500, 1_202_500].map((at): Exchange => {
    const id = `command ${at}`;
    return {
      messages: [{ id, role: "user", text: "/status", at }],
      end: { runId: id, outcome: "replied" },
    };
  });
  const read = await openLongSession(commands);
  const texts: string[] = [];
  const ids: string[] = [];
  let before: number | undefined;
  let pages = 0;
  do {
    const page = await read(before);
    texts.unshift(...page.messages.filter(({ text }) => text !== "/status").map(({ text }) => text));
    ids.push(...page.messages.filter(({ text }) => text === "/status").map(({ id }) => id));
    before = page.before;
    pages += 1;
  } while (before !== undefined);
  expect(texts).toEqual(Array.from({ length: COUNT }, (_, index) => `Message ${index}`));
  expect(ids.toSorted()).toEqual(commands.flatMap(({ messages }) => messages.map(({ id }) => id)).toSorted());
  expect(pages).toBe(3);
});

it("ends a page between two runs, so that a tool call and its result stay together", async () => {
  const rows = Array.from({ length: 700 }, (_, index) => ({
    seq: index + 1,
    at: index,
    runId: `r${Math.floor(index / 3)}`,
    message: {
      role: index % 3 === 0 ? "user" : "assistant",
      content: [{ type: "text", text: `Message ${index}` }],
      timestamp: index,
    },
  })).toReversed();
  const transcript = async (_: string, { before = 701, after = 0, limit = 0 }) =>
    rows.filter(({ seq }) => seq < before && seq > after).slice(0, limit);
  const store = { sessions: { transcript }, runs: { summaries: async () => [] } };
  const ports = {
    store,
    exchanges: { list: async () => [] },
    filter: REPLY_FILTER,
  } as unknown as HistoryPorts;
  const latest = await readHistory(ports, KEY);
  const earlier = await readHistory(ports, KEY, latest.before);
  expect(latest.messages[0]).toMatchObject({ role: "user", text: "Message 201" });
  expect(earlier.messages.at(-1)?.text).toBe("Message 200");
  expect(earlier.before).toBeUndefined();
});
