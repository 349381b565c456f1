import type { Quarantine } from "@signalbox/lanes";
import { type InboxId, type InterruptedRun, openStore, parseId } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { expect, it, onTestFinished } from "vitest";
import { plainMessage } from "../../test/plain-channel.ts";
import type { GatewayBodies } from "../store.ts";
import { type AnsweringStages, createAnswering, createTaking } from "./pipeline.ts";

const unused = () => Promise.reject(new Error("not needed here"));

/** A run that so many processes have begun, the last of which died. */
async function runBegunBy(processes: number): Promise<InterruptedRun<GatewayBodies>> {
  const store = await openStore<GatewayBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const acquire = async () => {
    const lease = await store.leases.acquire("gateway", "test", 60_000);
    if (lease === undefined) throw new Error("no lease");
    return lease;
  };
  const event = plainMessage("m1", "hello");
  const accepted = await store.inbox.accept({
    channel: "plain",
    account: "main",
    eventId: "e1",
    messageId: "m1",
    kind: "message",
    conversationId: "room",
    senderId: "anna",
    payload: { event, role: "member", rule: "open" },
    route: { agentId: "coder", sessionKey: "s" },
  });
  if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
  const begun = await store.runs.begin({
    session: { key: "s", agentId: "coder", channel: "plain", account: "main", peer: "anna", kind: "direct" },
    lease: await acquire(),
    inboxIds: [accepted.id],
    userMessages: [],
  });
  const runId = begun.run.id;
  for (let process = 1; process < processes; process += 1)
    await store.runs.adopt({ runId, lease: await acquire() });
  const interrupted = await store.runs.inspect(runId);
  if (interrupted === undefined) throw new Error("no run");
  return interrupted;
}

it("has a message wait in its lane once it is committed, and tells its platform once it is on the disk", async () => {
  const disk = Promise.withResolvers<void>();
  const event = plainMessage("m1", "hello");
  const stored = { event, role: "member", rule: "open" } as const;
  const place = { agentId: "coder", sessionKey: "s" };
  const decision = { kind: "answer", rule: "open", role: "member" } as const;
  const id = parseId<InboxId>("01M8HAFCSQGMRCGANQ00000005");
  if (id === undefined) throw new Error("no id");
  const order: string[] = [];
  const { take } = createTaking({
    receive: () => ({ kind: "message", event, as: "message", capabilities: undefined }),
    admit: async () => ({ stored, decision, exclusive: false, place: { kind: "asked", ...place } }),
    accept: async () => ({
      outcome: "accepted",
      accepted: {
        id,
        seq: 1,
        stored,
        decision,
        exclusive: false,
        route: place,
      },
      onDisk: disk.promise,
    }),
    unanswered: { end: unused },
    edits: { edited: unused, deleted: unused },
    queue: { expect: async () => {}, enter: ({ stored }) => order.push(`in its lane: ${stored.event.text}`) },
    metrics: { timed: async (_stage, work) => work() },
  });
  const taken = take(event).then((result) => order.push(result));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(["in its lane: hello"]);
  disk.resolve();
  await taken;
  expect(order).toEqual(["in its lane: hello", "accepted"]);
});

it("has a run go on alone once two processes have died under it, and no other one", async () => {
  const alone: number[] = [];
  const takenUp: number[] = [];
  const quarantine: Quarantine = {
    run(_signal, work) {
      alone.push(takenUp.length);
      return work();
    },
  };
  const stages: AnsweringStages = {
    commands: { answer: unused, goOn: unused },
    takeUp: async ({ interrupted }) => {
      takenUp.push(interrupted.run.attempts);
      return { kind: "nothing" };
    },
    open: unused,
    prepare: unused,
    run: unused,
    conclude: unused,
    commit: unused,
    refuse: unused,
    deliver: () => {},
    quarantine,
    readOrder: () => undefined,
    metrics: { timed: unused },
    tracer: { note() {} },
    logger: createLogger("silent", (text) => text),
  };
  const { goOn } = createAnswering(stages);
  const handle = {
    signal: new AbortController().signal,
    recalled: new Set<never>(),
    takeSteering: () => ({ items: [], summarised: [] }),
    standBy() {},
    leave() {},
  };
  for (const processes of [1, 2, 3]) await goOn(await runBegunBy(processes), handle);
  expect(takenUp).toEqual([1, 2, 3]);
  // The second of them, before its third start.
  expect(alone).toEqual([1]);
});
