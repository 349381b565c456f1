import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import type { ServiceBodies } from "../messages/service-store.ts";
import { readUsage } from "./usage.ts";

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
    { ...store, usage: { sum: async () => groups } },
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
