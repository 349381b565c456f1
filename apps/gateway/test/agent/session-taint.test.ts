import { openStore } from "@signalbox/store";
import { createSessionTaint, type TaintSource } from "@signalbox/tools";
import { describe, expect, it, onTestFinished } from "vitest";
import type { GatewayBodies } from "../../src/store.ts";

const DAY_MS = 86_400_000;
const sessionKey = "agent:main:plain:direct:anna";

const seen = (...sources: TaintSource[]) => ({ sources, speakers: [] });

async function open() {
  const time = { now: Date.UTC(2026, 10, 21) };
  const store = await openStore<GatewayBodies>({ path: ":memory:", clock: () => time.now });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 30_000);
  if (!lease) throw new Error("no lease");
  const begin = () =>
    store.sessions.ensure({
      key: sessionKey,
      agentId: "main",
      channel: "plain",
      account: "main",
      peer: "anna",
      kind: "direct",
    });
  await begin();
  const memory = async (generation = 0) => {
    const data = (await store.sessions.get(sessionKey))?.data;
    return createSessionTaint(store.sessions, { key: sessionKey, generation, data });
  };
  return { store, lease, time, begin, memory };
}

describe("taint of a conversation", () => {
  it("applies to every later run and accumulates, however long the conversation pauses", async () => {
    const { store, time, memory } = await open();
    expect((await memory()).earlier).toEqual(seen());
    await (await memory()).add(seen("web"));
    time.now += 4_000 * DAY_MS;
    await store.maintenance.prune();
    const second = await memory();
    expect(second.earlier).toEqual(seen("web"));
    await second.add(seen("file"));
    expect((await memory()).earlier).toEqual(seen("web", "file"));
  });

  it("records the speakers", async () => {
    const { memory } = await open();
    await (await memory()).add({ sources: [], speakers: ["plain:mo"] });
    const second = await memory();
    await second.add({ sources: ["web"], speakers: ["plain:mo", "plain:eve"] });
    expect((await memory()).earlier).toEqual({ sources: ["web"], speakers: ["plain:mo", "plain:eve"] });
  });

  it("stays when the model is chosen and when the choice is cleared", async () => {
    const { store, memory } = await open();
    await store.sessions.patch(sessionKey, { model: "anthropic/claude-sonnet-4-6" });
    await (await memory()).add(seen("web"));
    const session = await store.sessions.patch(sessionKey, { thinking: "high" });
    expect(session).toMatchObject({ model: "anthropic/claude-sonnet-4-6", thinking: "high" });
    expect((await memory()).earlier).toEqual(seen("web"));
  });

  it("does not taint the conversation after a reset, and leaves nothing behind", async () => {
    const { store, lease, memory } = await open();
    for (let generation = 0; generation < 5; generation += 1) {
      expect((await memory(generation)).earlier).toEqual(seen());
      await (await memory(generation)).add(seen("web"));
      await store.sessions.reset(sessionKey, lease);
    }
    expect(await store.kv.list("taint")).toEqual([]);
  });

  it("does not taint a new conversation in the place of one that was pruned", async () => {
    const { store, time, begin, memory } = await open();
    await (await memory()).add(seen("web"));
    time.now += 2 * DAY_MS;
    expect(await store.maintenance.prune({ idleSessionsMs: DAY_MS })).toMatchObject({ sessions: 1 });
    expect((await begin()).generation).toBe(0);
    expect((await memory()).earlier).toEqual(seen());
  });
});
