import { plainMessage } from "@signalbox/channel/testkit";
import { type InboxId, openStore, parseId } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createDelegation } from "./delegation.ts";
import type { WakesBodies } from "./ports.ts";
import { placeOf } from "./wake.ts";

const giver = (key: string) => ({
  agentId: "coder",
  sessionKey: "agent:coder:plain:direct:anna",
  depth: 0,
  chain: "m1",
  origin: { place: placeOf(plainMessage()), role: "owner" as const, taint: [] },
  limits: { maxDepth: 1, maxAtOnce: 4, maxTasks: 20 },
  key,
});

it("ends what a sub-agent has in the background with its last task, not under one that it works on", async () => {
  const store = await openStore<WakesBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const delegation = createDelegation({ store, logger: { warn() {} }, now: () => 0 });
  onTestFinished(() => delegation.stop());
  const ended: string[] = [];
  await delegation.start({
    async wake(event, { agentId, sessionKey }) {
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
  const { id, sessionKey } = await delegation.spawn({ label: "a", text: "a", tools: [] }, giver("c1"));
  const { tasks } = await delegation.send(id, "b", giver("c2"));
  const [first, second] = tasks.map(({ messageId = "" }) => parseId<InboxId>(messageId));
  if (first === undefined || second === undefined) throw new Error("a task was not handed over");
  await store.inbox.settle(first, "replied", {});
  await delegation.recover();
  expect([(await delegation.of(giver("").sessionKey))[0]?.tasks[0]?.ended, ended]).toEqual(["done", []]);
  await store.inbox.settle(second, "replied", {});
  await delegation.recover();
  expect(ended).toEqual([sessionKey]);
});
