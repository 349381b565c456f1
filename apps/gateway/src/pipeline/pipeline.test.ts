import { FencedError, type InboxId, parseId } from "@signalbox/store";
import { expect, it } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import { plainMessage } from "../../test/support/plain-channel.ts";
import { PendingMessages } from "../messages/pending-messages.ts";
import type { QueuedMessage } from "../messages/queued-message.ts";
import { emit } from "./pipeline.ts";

it("queues a message when it is committed, and acknowledges it when it is on disk", async () => {
  const disk = Promise.withResolvers<void>();
  const event = plainMessage("m1", "hello");
  const id = parseId<InboxId>("01M8HAFCSQGMRCGANQ00000005");
  const order: string[] = [];
  const nothing = (): void => {};
  const ctx = fakeContext({
    config: { current: () => ({ settings: { bindings: [] }, agents: { at: () => undefined } }) },
    router: () => ({ resolve: () => ({ agentId: "coder", sessionKey: "s", matchedBy: "default" }) }),
    admission: () => ({
      needsApproval: () => false,
      decide: () => ({ kind: "answer", rule: "open", role: "member" }),
    }),
    queueModes: { read: async () => {} },
    store: {
      access: {},
      inbox: {
        acceptAhead: async () => ({
          result: { outcome: "accepted", id, seq: 1 },
          onDisk: disk.promise,
        }),
      },
    },
    inboxAlarm: { report: nothing },
    storeHealth: { fault: nothing, works: nothing, failed: nothing },
    replyWindows: { heard: nothing },
    pending: new PendingMessages(),
    outcomes: { accepted: nothing },
    hooks: { observe: nothing },
    metrics: { timed: async (_stage: string, work: () => unknown) => work() },
    userQuestions: { getOpen: nothing, getAnsweredBy: nothing },
    lanes: {
      all: () => [],
      enqueue: ({ stored }: QueuedMessage) => order.push(`in its lane: ${stored.event.text}`),
    },
  });
  const taken = emit(ctx, event).then((result) => order.push(result));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(["in its lane: hello"]);
  disk.resolve();
  await taken;
  expect(order).toEqual(["in its lane: hello", "accepted"]);
});

it.each([
  ["queues a correction that is reserved for this node", {}, [], ["(edited) hello again"], []],
  [
    "leaves a correction behind unclaimed messages to the next claim",
    { isUnclaimed: true },
    [],
    [],
    ["coder"],
  ],
  [
    "releases a correction that could overtake messages that are being released",
    {},
    ["s"],
    [],
    ["02", "coder"],
  ],
] as const)("%s", async (_, accepted, passing, queued, steps) => {
  const message = plainMessage("m1", "hello");
  const route = { agentId: "coder", sessionKey: "s" };
  const enqueued: string[] = [];
  const taken: string[] = [];
  const payload = { event: message, rule: "open", role: "member" };
  const row = { id: "01", seq: 1, kind: "message", state: "running", route, payload };
  const ctx = fakeContext({
    config: { current: () => ({ agents: { at: () => undefined } }) },
    queueModes: { read: async () => {} },
    pending: new PendingMessages(),
    claimed: [],
    passing: new Map(passing.map((sessionKey) => [sessionKey, Promise.resolve()])),
    sharedSeats: {},
    store: {
      inbox: {
        find: async () => ({ ...row, conversationId: message.conversation.id, senderId: message.sender.id }),
        findEvent: async () => undefined,
        accept: async () => ({ outcome: "accepted", id: "02", seq: 2, state: "queued", ...accepted }),
        release: async (ids: readonly string[]) => void taken.push(...ids),
      },
      hints: { send: (topic: string) => void taken.push(topic) },
    },
    userQuestions: { getOpen: () => undefined, getAnsweredBy: () => undefined },
    lanes: {
      all: () => [],
      change: async () => "not_waiting",
      enqueue: ({ stored }: QueuedMessage) => void enqueued.push(stored.event.text),
    },
  });
  const edit = { ...message, type: "edited", eventId: "e1", text: "hello again" } as const;
  expect(await emit(ctx, edit)).toBe("accepted");
  await expect.poll(() => taken).toEqual(steps);
  expect(enqueued).toEqual(queued);
});

it("stores the edit of a waiting message only while this node holds the message", async () => {
  const message = plainMessage("m1", "hello");
  const lease = { name: "gateway", epoch: 1 };
  const payload = { event: message, rule: "open", role: "member" };
  const { conversation, sender } = message;
  const row = { id: "01", seq: 1, kind: "message", state: "queued", payload };
  const ctx = fakeContext({
    lease,
    config: { current: () => ({ agents: { at: () => undefined } }) },
    queueModes: { read: async () => {} },
    pending: new PendingMessages(),
    store: {
      inbox: {
        find: async () => ({
          ...row,
          route: { agentId: "coder", sessionKey: "s" },
          conversationId: conversation.id,
          senderId: sender.id,
        }),
        findEvent: async () => undefined,
        async revise(id: string, _: unknown, holder: unknown) {
          expect([id, holder]).toEqual(["01", lease]);
          throw new FencedError(lease.name, lease.epoch, "another node has claimed the message");
        },
      },
    },
    lanes: { all: () => [], change: (_key: string, _id: string, change: () => unknown) => change() },
  });
  const edit = { ...message, type: "edited", eventId: "e1", text: "hello again" } as const;
  await expect(emit(ctx, edit)).rejects.toThrow("another node has claimed the message");
});
