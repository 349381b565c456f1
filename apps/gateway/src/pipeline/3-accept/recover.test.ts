import { ALL_SEATS, type Seats } from "@signalbox/home";
import { type LeaseToken, openStore } from "@signalbox/store";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { fakeContext } from "../../../test/support/fake-context.ts";
import { plainMessage } from "../../../test/support/plain-channel.ts";
import type { GatewayContext } from "../../context.ts";
import type { QueuedMessage } from "../../messages/queued-message.ts";
import type { GatewayBodies, GatewayStore } from "../../store.ts";
import type { TriggerTerms } from "../../triggers/trigger.ts";
import { recover } from "../pipeline.ts";
import { type Accepted, recoverAccepted } from "./accept.ts";

const ROUTE = { agentId: "coder", sessionKey: "s" };
let store: GatewayStore;
let time: number;

beforeEach(async () => {
  time = 1_000_000;
  store = await openStore<GatewayBodies>({ path: ":memory:", clock: () => time });
  onTestFinished(() => store.close());
});

async function take(name: string) {
  const lease = await store.leases.acquire(name, name, 30_000);
  if (lease === undefined) throw new Error("no lease");
  return lease;
}

async function accepted(
  id: string,
  { trigger, ...more }: { route?: typeof ROUTE; lease?: LeaseToken; trigger?: TriggerTerms },
) {
  const answer = await store.inbox.accept({
    channel: "plain",
    account: "main",
    eventId: id,
    messageId: id,
    kind: "message",
    conversationId: "room",
    senderId: "anna",
    payload: { event: plainMessage(id, id), role: "member", rule: "paired", ...(trigger ? { trigger } : {}) },
    ...more,
  });
  if (answer.outcome !== "accepted") throw new Error(answer.outcome);
  return answer.id;
}

/** A gateway where every sender has become an owner meanwhile. */
function contextWith(lease: LeaseToken, parts: { seats?: Seats; lanes?: unknown } = {}): GatewayContext {
  return fakeContext({
    store,
    lease,
    userQuestions: { load: async () => {} },
    crashBlame: { compare: () => {} },
    ...parts,
    claimed: [],
    config: { current: () => ({ settings: { bindings: [] } }) },
    router: () => ({ resolve: () => ({ ...ROUTE, matchedBy: "default" }) }),
    admission: () => ({
      needsApproval: () => false,
      decide: () => ({ kind: "answer", rule: "owner", role: "owner" }),
    }),
    queueModes: { read: async () => {} },
  });
}

async function recovered(lease: LeaseToken): Promise<Accepted[]> {
  const messages: Accepted[] = [];
  for await (const message of recoverAccepted(contextWith(lease))) messages.push(message);
  return messages;
}

it("keeps what is decided anew about a message, with the role that its sender has now", async () => {
  const lease = await take("gateway");
  const id = await accepted("m1", {});
  expect(await recovered(lease)).toMatchObject([{ id, stored: { role: "owner" } }]);
  // Another crash, and whoever goes on then reads the row.
  const row = await store.inbox.get(id);
  expect([row?.state, row?.payload.role, row?.payload.rule]).toEqual(["queued", "owner", "owner"]);
});

it("takes what another process has left, once its lease is lost, and nothing before", async () => {
  const [ours, others] = [await take("one"), await take("other")];
  const id = await accepted("m1", { route: ROUTE, lease: others });
  await accepted("m2", { route: ROUTE, lease: ours });
  expect(await recovered(ours)).toEqual([]);
  time += 30_000;
  await store.leases.renew([ours], 30_000);
  expect((await recovered(ours)).map((message) => message.id)).toEqual([id]);
  expect(await recovered(ours)).toEqual([]);
});

it("leaves messages and runs of agents that run on other nodes", async () => {
  const [ours, lost] = [await take("one"), await take("lost")];
  const { sessionKey: session } = ROUTE;
  const neighbors = "of a neighbor";
  const queued: string[] = [];
  const begin = async (id: string, sessionKey = session) => {
    const message = await accepted(id, { route: { ...ROUTE, sessionKey }, lease: lost });
    const seed = { key: sessionKey, agentId: "coder", channel: "plain", account: "main", peer: "anna" };
    await store.runs.begin({
      session: { ...seed, kind: "direct" },
      lease: lost,
      inboxIds: [message],
      userMessages: [],
    });
  };
  await begin("m1");
  await begin("m2", neighbors);
  await accepted("m3", { route: { ...ROUTE, sessionKey: neighbors }, lease: lost });
  time += 30_000;
  await store.leases.renew([ours], 30_000);
  const recoverWith = async (isHere: Seats["isHere"]) => {
    const lanes = {
      all: () => [],
      enqueue: ({ sessionKey, kind }: { sessionKey: string; kind: string }) =>
        void queued.push(`${kind} in ${sessionKey}`),
    };
    await recover(contextWith(ours, { seats: { ...ALL_SEATS, isHere }, lanes }));
  };
  await recoverWith((_, sessionKey) => sessionKey !== neighbors);
  expect(queued).toEqual(["resume in s"]);
  const waiting = await store.inbox.list({ state: "queued", sessionKey: neighbors });
  expect(waiting).toHaveLength(1);
  expect((await store.runs.interrupted(ours)).map(({ run }) => run.sessionKey)).toEqual([session, neighbors]);
  expect((await store.inbox.claimDue(ours)).map(({ eventId }) => eventId)).toEqual(["m3"]);
});

it("leaves what nobody has written a run of its own, as it had before the crash", async () => {
  const lease = await take("gateway");
  await accepted("written", { route: ROUTE });
  await accepted("triggered", { route: ROUTE, trigger: { ...ROUTE, atMost: "system" } });
  expect((await recovered(lease)).map(({ exclusive }) => exclusive)).toEqual([false, true]);
});

it("gives again what a failure kept from being taken, and nothing that was deleted meanwhile", async () => {
  const lease = await take("gateway");
  const ids = [await accepted("m1", {}), await accepted("m2", {}), await accepted("m3", {})];
  const ctx = contextWith(lease);
  const taken: string[] = [];
  const takeAll = async (mayTake: (id: string) => boolean): Promise<void> => {
    for await (const { id } of recoverAccepted(ctx)) {
      if (!mayTake(id)) throw new Error("the disk is full");
      taken.push(id);
    }
  };
  await expect(takeAll((id) => id === ids[0])).rejects.toThrow("the disk is full");
  await store.inbox.withdraw({ channel: "plain", account: "main", messageId: "m3" });
  ids.push(await accepted("m4", {}));
  await takeAll(() => true);
  await takeAll(() => true);
  expect(taken).toEqual([ids[0], ids[1], ids[3]]);
});

it("queues messages in their order if it is called again while it claims them", async () => {
  const lease = await take("gateway");
  await accepted("m1", { route: ROUTE });
  const queued: string[] = [];
  const ctx = contextWith(lease, {
    lanes: {
      all: () => [],
      enqueue: ({ stored }: QueuedMessage) => void queued.push(stored.event.messageId),
    },
  });
  const entering = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  let reads = 0;
  Object.assign(ctx, {
    config: { current: () => ({ agents: { at: () => undefined } }) },
    userQuestions: { load: async () => {}, getOpen: () => undefined, getAnsweredBy: () => undefined },
    queueModes: {
      async read() {
        reads += 1;
        if (reads > 1) return;
        entering.resolve();
        await entered.promise;
      },
    },
  });
  const first = recover(ctx);
  await entering.promise;
  await accepted("m2", { route: ROUTE });
  const second = recover(ctx);
  // The second call could finish before the first one.
  await new Promise((resolve) => setTimeout(resolve, 50));
  entered.resolve();
  await Promise.all([first, second]);
  expect(queued).toEqual(["m1", "m2"]);
});

it("claims messages only after the release of earlier ones, so that they keep their order", async () => {
  const lease = await take("gateway");
  const first = await accepted("m1", { route: ROUTE, lease });
  const queued: string[] = [];
  const ctx = contextWith(lease, {
    lanes: {
      all: () => [],
      enqueue: ({ stored }: QueuedMessage) => void queued.push(stored.event.messageId),
    },
  });
  const release = Promise.withResolvers<void>();
  ctx.passing.set(
    "s",
    release.promise.then(() => store.inbox.release([first], lease)),
  );
  Object.assign(ctx, {
    config: { current: () => ({ agents: { at: () => undefined } }) },
    userQuestions: { load: async () => {}, getOpen: () => undefined, getAnsweredBy: () => undefined },
  });
  const recovering = recover(ctx);
  await accepted("m2", { route: ROUTE });
  release.resolve();
  await recovering;
  expect(queued).toEqual(["m1", "m2"]);
  expect(ctx.passing.size).toBe(0);
});

it("keeps a message that could not be released for the next recovery", async () => {
  const lease = await take("gateway");
  const id = await accepted("m1", { route: ROUTE });
  const isHere = { now: true };
  const ctx = contextWith(lease, {
    seats: { ...ALL_SEATS, isHere: () => isHere.now },
    lanes: { all: () => [] },
  });
  const inbox = { ...store.inbox, release: () => Promise.reject(new Error("the database is away")) };
  const claimDue: typeof inbox.claimDue = async (...asked) => {
    const due = await store.inbox.claimDue(...asked);
    isHere.now = false;
    return due;
  };
  Object.assign(ctx, { store: { ...store, inbox: { ...inbox, claimDue } } });
  await recover(ctx);
  await expect.poll(() => ctx.claimed).toEqual([id]);
});
