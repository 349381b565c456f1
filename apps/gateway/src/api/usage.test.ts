import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import type { ServiceBodies } from "../messages/service-store.ts";
import { readUsage, readUsageSeries } from "./usage.ts";

it("finds the titles of all sessions that used something at once", async () => {
  const store = await openStore<ServiceBodies>({ path: ":memory:" });
  onTestFinished(store.close);
  const seed = { agentId: "main", channel: "plain", account: "main", peer: "anna", kind: "direct" };
  const used = { runs: 1, modelCalls: 1, inputTokens: 1, outputTokens: 1, cacheReadTokens: 0 };
  const groups = Array.from({ length: 150 }, (_, at) => ({
    ...used,
    by: `s${at}`,
    cacheWriteTokens: 0,
    costMicros: 0,
  }));
  for (const { by: key } of groups.slice(1)) await store.sessions.ensure({ ...seed, key, title: `T ${key}` });
  const reads = [vi.spyOn(store.sessions, "list"), vi.spyOn(store.sessions, "get")];
  const usage = await readUsage(
    { ...store, usage: { ...store.usage, sum: async () => groups } },
    [],
    { by: "session" },
    Date.now(),
  );
  expect(usage.groups.map(({ title }) => title)).toEqual([
    undefined,
    ...groups.slice(1).map(({ by }) => `T ${by}`),
  ]);
  expect(reads.reduce((count, { mock }) => count + mock.calls.length, 0)).toBe(1);
});

const USED = {
  runs: 1,
  modelCalls: 2,
  inputTokens: 30,
  outputTokens: 4,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 500,
};

it("adds up the sessions of a channel, and reads the channel of a deleted session from its key", async () => {
  const store = await openStore<ServiceBodies>({ path: ":memory:" });
  onTestFinished(store.close);
  const seed = { agentId: "main", channel: "slack", account: "main", peer: "anna", kind: "direct" };
  await store.sessions.ensure({ ...seed, key: "agent:main:main" });
  const series = [
    "agent:main:main",
    "agent:main:slack:main:group:c1",
    "agent:main:feishu:main:direct:ou_1",
  ].map((by) => ({ ...USED, by, day: "2026-11-21" }));
  const { points } = await readUsageSeries(
    { ...store, usage: { ...store.usage, series: async () => series } },
    { by: "channel" },
    Date.now(),
  );
  expect(points).toEqual([
    {
      ...USED,
      day: "2026-11-21",
      name: "slack",
      runs: 2,
      modelCalls: 4,
      inputTokens: 60,
      outputTokens: 8,
      costMicros: 1_000,
    },
    { ...USED, day: "2026-11-21", name: "feishu" },
  ]);
});

it("names the senders who are paired", async () => {
  const store = await openStore<ServiceBodies>({ path: ":memory:" });
  onTestFinished(store.close);
  const peers = [
    { channel: "feishu", account: "main", peerId: "ou_1", label: "张三", approvedAt: 0, approvedBy: "owner" },
  ];
  const sums = ["feishu:ou_1", "feishu:ou_2", ""].map((by) => ({ ...USED, by }));
  const { groups } = await readUsage(
    {
      ...store,
      usage: { ...store.usage, sum: async () => sums },
      pairing: { ...store.pairing, peers: async () => peers },
    },
    [],
    { by: "sender" },
    Date.now(),
  );
  expect(groups.map(({ title }) => title)).toEqual(["张三", undefined, undefined]);
});
