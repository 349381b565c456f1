import { type Lease, openStore, type SessionSeed } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import type { ServiceBodies } from "../messages/service-store.ts";
import { listConversations, removeConversation, renameConversation } from "./conversation.ts";

async function storeWith(...peers: readonly string[]) {
  const store = await openStore<ServiceBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 30_000);
  if (lease === undefined) throw new Error("no lease");
  for (const peer of peers)
    for (const agentId of ["coder", "writer"]) await store.sessions.ensure(seedOf(agentId, peer));
  return { store, lease };
}

const seedOf = (agentId: string, peer: string): SessionSeed => ({
  key: `agent:${agentId}:web:direct:${peer}`,
  agentId,
  channel: "web",
  account: "main",
  peer,
  kind: "direct",
});

const removal = (lease: Lease, busyWith?: string) => {
  const removed: string[] = [];
  const forgotten: string[] = [];
  const asked: string[] = [];
  const ended: string[] = [];
  const unscheduled: string[] = [];
  return {
    removed,
    forgotten,
    asked,
    ended,
    unscheduled,
    ports: {
      lease,
      lanes: { busy: (key: string) => key === busyWith },
      exchanges: { remove: async (key: string) => void removed.push(key) },
      userQuestions: { forget: async (key: string) => void asked.push(key) },
      live: { forget: (key: string) => void forgotten.push(key) },
      subAgents: { of: async () => [] },
      toolbox: { endCommands: async (key: string) => void ended.push(key) },
      scheduled: { endOf: async (key: string) => void unscheduled.push(key) },
    },
  };
};

it("lists a client's own conversations, by the title they were given", async () => {
  const { store } = await storeWith("a-1", "b-1");
  expect(await renameConversation(store, "a-1", "Plans")).toBe(true);
  expect(await renameConversation(store, "a-2", "Nothing")).toBe(false);
  const listed = await listConversations(store, "a-");
  expect(listed.map(({ id, agent, title }) => [id, agent, title]).toSorted()).toEqual([
    ["a-1", "coder", "Plans"],
    ["a-1", "writer", "Plans"],
  ]);
});

it("removes a conversation with every agent and what was said beside it, unless one is at work there", async () => {
  const { store, lease } = await storeWith("a-1");
  const busy = removal(lease, "agent:writer:web:direct:a-1");
  expect(await removeConversation(fakeContext({ store, ...busy.ports }), "a-1")).toBe("busy");
  expect(busy.removed).toEqual([]);
  const idle = removal(lease);
  expect(await removeConversation(fakeContext({ store, ...idle.ports }), "a-1")).toBe("removed");
  expect(idle.removed).toHaveLength(2);
  expect(idle.forgotten).toEqual(idle.removed);
  expect(idle.asked).toEqual(idle.removed);
  expect(idle.ended).toEqual(idle.removed);
  expect(idle.unscheduled).toEqual(idle.removed);
  expect(await listConversations(store, "a-")).toEqual([]);
  expect(await removeConversation(fakeContext({ store, ...idle.ports }), "a-1")).toBe("unknown");
});

it("is busy as well where a sub-agent, or one of its own, works for it, or a run begins meanwhile", async () => {
  const { store, lease } = await storeWith("a-1");
  const { ports, removed } = removal(lease);
  const made = new Map([
    ["agent:writer:web:direct:a-1", { sessionKey: "one", tasks: [{ ended: "done" }] }],
    ["one", { sessionKey: "two", tasks: [{ ended: "done" }, {}] }],
  ]);
  const subAgents = { of: async (key: string) => [made.get(key) ?? []].flat() };
  expect(await removeConversation(fakeContext({ store, ...ports, subAgents }), "a-1")).toBe("busy");
  expect(removed).toEqual([]);

  const session = seedOf("coder", "a-1");
  const begin = async () => {
    await store.runs.begin({ session, lease, inboxIds: [], userMessages: [] });
  };
  const remove = removeConversation(
    fakeContext({ store, ...ports, userQuestions: { forget: begin } }),
    "a-1",
  );
  expect(await remove).toBe("busy");
});
