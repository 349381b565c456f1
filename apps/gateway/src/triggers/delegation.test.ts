import { assistantMessage } from "@signalbox/agent-core/test";
import { plainMessage } from "@signalbox/channel/testkit";
import { ALL_SEATS, type Seats } from "@signalbox/home";
import { type InboxId, openStore, parseId } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { getShardIndex } from "../configure/shards.ts";
import { createDelegation } from "./delegation.ts";
import { getPlace } from "./trigger.ts";
import type { TriggerBodies } from "./types.ts";

const giver = (key: string) => ({
  agentId: "coder",
  sessionKey: "agent:coder:plain:direct:anna",
  depth: 0,
  chain: "m1",
  origin: { place: getPlace(plainMessage()), role: "owner" as const, taint: [] },
  limits: { maxDepth: 1, maxAtOnce: 4, maxTasks: 20 },
  key,
});

/** Delegation whose host takes every message. */
async function world(seats: Seats = ALL_SEATS) {
  const store = await openStore<TriggerBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const delegation = createDelegation({ store, logger: { warn() {} }, now: () => 0, seats });
  onTestFinished(() => delegation.stop());
  const ended: string[] = [];
  const told: string[] = [];
  await delegation.start({
    async trigger(event, { agentId, sessionKey }) {
      told.push(event.text);
      const { channel, account, eventId, conversation, sender } = event;
      const accepted = await store.inbox.accept({
        channel,
        account,
        eventId,
        kind: "message",
        conversationId: conversation.id,
        senderId: sender.id,
        payload: { event, role: "owner" },
        route: { agentId, sessionKey },
      });
      if (accepted.outcome === "full") return { outcome: "rejected" };
      return { outcome: "taken", ...(accepted.id === undefined ? {} : { id: accepted.id }) };
    },
    endCommands: async (sessionKey) => void ended.push(sessionKey),
  });
  return { store, delegation, ended, told };
}

function messageOf({ messageId = "" }: { readonly messageId?: string } = {}): InboxId {
  const id = parseId<InboxId>(messageId);
  if (id === undefined) throw new Error("the task was not handed over");
  return id;
}

it("stores the place of a message that has undefined fields and several ids", async () => {
  const { store, delegation } = await world();
  const event = plainMessage();
  const conversation = { ...event.conversation, threadId: undefined, otherIds: ["old"] };
  const place = getPlace({ ...event, botId: undefined, conversation });
  await delegation.spawn(
    { label: "a", text: "a", tools: [] },
    { ...giver("c1"), origin: { place, role: "owner", taint: [] } },
  );
  const [stored] = await store.kv.list("subagents");
  expect(JSON.stringify(stored?.value)).toContain('"otherIds":["old"]');
});

it("ends what a sub-agent has in the background with its last task, not under one that it works on", async () => {
  const { store, delegation, ended } = await world();
  const { id, sessionKey } = await delegation.spawn({ label: "a", text: "a", tools: [] }, giver("c1"));
  const { tasks } = await delegation.send(id, "b", giver("c2"));
  const [first, second] = [messageOf(tasks[0]), messageOf(tasks[1])];
  await store.inbox.settle(first, "replied", {});
  await delegation.recover();
  expect([(await delegation.of(giver("").sessionKey))[0]?.tasks[0]?.ended, ended]).toEqual(["done", []]);
  await store.inbox.settle(second, "replied", {});
  await delegation.recover();
  expect(ended).toEqual([sessionKey]);
});

it("reports what a sub-agent had that ended at its limits, and that it was not done", async () => {
  const { store, delegation, told } = await world();
  const { tasks } = await delegation.spawn({ label: "a", text: "a", tools: [] }, giver("c1"));
  const reason = "The run reached its limit of turns.";
  await store.inbox.settle(messageOf(tasks[0]), "replied", { rule: "limit", reason });
  await delegation.recover();
  expect(told.at(-1)).toMatch(
    /has reached a limit before it finished its task.*\nWhy: The run reached its limit of turns\.$/,
  );
  expect((await delegation.of(giver("").sessionKey))[0]?.tasks[0]?.ended).toBe("cut");
});

it("reports all of an answer that went on behind the model's limit", async () => {
  const { store, delegation, told } = await world();
  const { tasks, sessionKey } = await delegation.spawn({ label: "a", text: "a", tools: [] }, giver("c1"));
  const id = messageOf(tasks[0]);
  const lease = await store.leases.acquire("gateway", "test", 30_000);
  if (lease === undefined) throw new Error("there is no lease");
  const session = { key: sessionKey, agentId: "coder", channel: "plain", account: "main", peer: "anna" };
  const begun = await store.runs.begin({
    session: { ...session, kind: "direct" },
    lease,
    inboxIds: [id],
    userMessages: [],
  });
  if (begun.outcome !== "started") throw new Error(begun.outcome);
  const messages = [
    assistantMessage("I look."),
    { ...assistantMessage("The first half, "), stopReason: "max_tokens" } as const,
    { role: "user", content: "Go on.", timestamp: 0 } as const,
    assistantMessage("and the rest."),
  ];
  const end = { inbox: [{ id, state: "replied" }], messages, outcome: "completed" } as const;
  await store.runs.finish({ runId: begun.run.id, lease, ...end });
  await delegation.recover();
  expect(told.at(-1)).toMatch(/has finished its task.*\nThe first half, and the rest\.$/);
});

it("runs a sub-agent in the shard of its parent, under the same id if it is started again", async () => {
  const getSeat = (agentId: string, sessionKey = "") => `${agentId}#${getShardIndex(sessionKey, 8) + 1}`;
  const { delegation } = await world({ ...ALL_SEATS, getSeat });
  for (let n = 0; n < 4; n += 1) {
    const started = { label: "a", text: "a", tools: [] };
    const { id, parentKey, sessionKey } = await delegation.spawn(started, giver(`c${n}`));
    expect(getSeat("coder", sessionKey)).toBe(getSeat("coder", parentKey));
    expect((await delegation.spawn(started, giver(`c${n}`))).id).toBe(id);
  }
});
