import { createSupervisor, type RunHandle } from "@signalbox/lanes";
import { createManualClock } from "@signalbox/lanes/testkit";
import { type InboxId, type LeaseToken, openStore, type RunWrite, StoreError } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import { plainMessage } from "../../test/support/plain-channel.ts";
import { classifyFailure } from "../messages/failures.ts";
import { messagesIn, type Queued, type QueuedMessage } from "../messages/queued-message.ts";
import type { GatewayBodies } from "../store.ts";
import { processBatch, type Work } from "./process-batch.ts";

const SESSION = {
  key: "s",
  agentId: "coder",
  channel: "plain",
  account: "main",
  peer: "anna",
  kind: "direct",
} as const;
const LEASE_MS = 30_000;

const handle: RunHandle<Queued> = {
  signal: new AbortController().signal,
  recalled: new Set(),
  takeSteering: () => ({ items: [], summarised: [] }),
  standBy() {},
  block() {},
};

/** Two processes on one store: one has a run in a session, and the other a message for it. */
async function twoProcesses(fault?: Error) {
  const clock = createManualClock(Date.UTC(2026, 10, 21));
  const store = await openStore<GatewayBodies>({ path: ":memory:", clock: clock.now });
  onTestFinished(() => store.close());
  const acquire = async (name: string) => {
    const lease = await store.leases.acquire(name, name, LEASE_MS);
    if (lease === undefined) throw new Error("no lease");
    return lease;
  };
  const [ours, theirs] = [await acquire("ours"), await acquire("theirs")];

  async function accept(messageId: string): Promise<QueuedMessage> {
    const stored = { event: plainMessage(messageId, "hello"), role: "member", rule: "open" } as const;
    const route = { agentId: SESSION.agentId, sessionKey: SESSION.key };
    const names = { channel: "plain", account: "main", eventId: messageId, messageId, kind: "message" };
    const place = { conversationId: "room", senderId: "anna" };
    const accepted = await store.inbox.accept({ ...names, ...place, payload: stored, route });
    if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
    return { kind: "message", id: accepted.id, seq: accepted.seq, ...route, stored, exclusive: false };
  }

  async function begin(lease: LeaseToken, ids: readonly InboxId[]): Promise<RunWrite> {
    const begun = await store.runs.begin({ session: SESSION, lease, inboxIds: ids, userMessages: [] });
    if (begun.outcome === "busy") throw new StoreError("busy", "a run holds the session");
    return { runId: begun.run.id, lease };
  }

  async function finish(write: RunWrite): Promise<void> {
    const inbox = (await store.runs.inspect(write.runId))?.inbox ?? [];
    const replied = inbox.map(({ id }) => ({ id, state: "replied" }) as const);
    await store.runs.finish({ ...write, outcome: "completed", inbox: replied });
  }

  const theirRun = await begin(theirs, [(await accept("m1")).id]);
  const givenUp: unknown[] = [];
  /** Texts that joined a run of the other process. */
  const joined: string[] = [];
  const ctx = fakeContext({
    store,
    lease: ours,
    supervisor: createSupervisor({
      retryPolicy: classifyFailure,
      clock,
      onFatal: (error) => givenUp.push(error),
    }),
  });
  const work: Work = {
    async begin(_, { messages }) {
      if (fault !== undefined) throw fault;
      const ids = messages.map(({ id }) => id);
      if (ids.length > 0) await finish(await begin(ours, ids));
    },
    async resume(_, { run }, { takeSteering }) {
      joined.push(...messagesIn(takeSteering().items).map(({ stored }) => stored.event.text));
      const taken = await store.runs.adopt({ runId: run.id, lease: ours });
      if (taken !== undefined) await finish({ runId: taken.id, lease: ours });
    },
    giveUp: async (_, { held, waiting }) => void givenUp.push([held, waiting.length]),
  };
  const message: QueuedMessage = { ...(await accept("m2")), exclusive: true };
  let isAnswered = false;
  const answered = processBatch(ctx, { items: [message], summarised: [] }, handle, work).then(() => {
    isAnswered = true;
  });

  return {
    answered,
    givenUp,
    joined,
    theirsEnds: () => finish(theirRun),
    /** So long, or until it is answered; ours lives, and theirs as far as it is said to. */
    async waits(ms: number, { theyLive }: { readonly theyLive: boolean }): Promise<void> {
      for (let waited = 0; waited < ms; waited += 2_000) {
        await expect.poll(() => isAnswered || clock.pending() === 1).toBe(true);
        await store.leases.renew(theyLive ? [ours, theirs] : [ours], LEASE_MS);
        await clock.advance(2_000);
      }
    },
    stateOf: async (messageId: string) =>
      (await store.inbox.find({ channel: "plain", account: "main", messageId }))?.state,
  };
}

it("has a message wait for as long as the run of another process holds its session", async () => {
  const { answered, givenUp, theirsEnds, waits, stateOf } = await twoProcesses();
  await waits(30_000, { theyLive: true });
  expect([givenUp, await stateOf("m2")]).toEqual([[], "queued"]);
  await theirsEnds();
  await waits(2_000, { theyLive: true });
  await answered;
  expect([givenUp, await stateOf("m2")]).toEqual([[], "replied"]);
});

it("completes the run of another process that has ended before it answers its own messages", async () => {
  const { answered, givenUp, joined, waits, stateOf } = await twoProcesses();
  await waits(30_000, { theyLive: true });
  await waits(LEASE_MS + 2_000, { theyLive: false });
  await answered;
  expect([givenUp, await stateOf("m1"), await stateOf("m2")]).toEqual([[], "replied", "replied"]);
  expect(joined, "a command must not become part of that run").toEqual([]);
});

it("ends no run of another process where its own work fails", async () => {
  const { answered, givenUp } = await twoProcesses(new TypeError("a fault"));
  await answered;
  expect(givenUp).toEqual([[undefined, 1]]);
});
