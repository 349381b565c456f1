import type { AssistantMessage } from "@signalbox/agent-core";
import { assistantMessage } from "@signalbox/agent-core/test";
import { type MessageEvent, normalizeEvent, normalizeTurn } from "@signalbox/channel";
import { createWebHub, type WebMessage } from "@signalbox/channel-web";
import { createLiveHub, createOutcomes } from "@signalbox/server";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import { createExchanges } from "../messages/exchanges.ts";
import type { ServiceBodies } from "../messages/service-store.ts";
import { createSubmit } from "./submit.ts";

const SUBMISSION = {
  channel: "api",
  agent: "coder",
  conversation: "alice",
  id: "m1",
  text: "hello",
} as const;

/** A gateway that takes what comes by its own channels until it is full, and answers nothing by itself. */
async function gateway({ ready = true, room = 10 } = {}) {
  const store = await openStore<ServiceBodies>({ path: ":memory:", limits: { inbox: room } });
  onTestFinished(() => store.close());
  const outcomes = createOutcomes();
  const submitTo = (channel: "web" | "api") => ({
    async submit(message: WebMessage) {
      const event = eventOf(channel, message);
      const { eventId, messageId, conversation, sender } = event;
      const taken = await store.inbox.accept({
        channel,
        account: "main",
        eventId,
        messageId,
        kind: "message",
        conversationId: conversation.id,
        senderId: sender.id,
        payload: { event, rule: "token" },
        route: { agentId: "coder", sessionKey: "s" },
      });
      if (taken.outcome === "full") return "rejected";
      if (taken.outcome === "accepted") outcomes.accepted(taken.id, { channel, account: "main", messageId });
      return taken.outcome;
    },
  });
  const { definition } = createWebHub({ id: "api", awaitsSingleAnswer: true, fetchUrl: nothing });
  const exchanges = createExchanges(
    fakeContext({ store, getCapabilities: () => definition.capabilities, now: () => 1 }),
  );
  const live = createLiveHub((error) => {
    throw error;
  });
  const ctx = fakeContext({
    store,
    live,
    outcomes,
    exchanges,
    surfaces: { web: submitTo("web"), api: submitTo("api") },
    config: { current: () => ({ agents: { get: (id: string) => (id === "coder" ? {} : undefined) } }) },
    clientFiles: { carried: { add: async () => ({ kind: "full", bytes: 0 }), remove: async () => {} } },
  });
  const service = createSubmit(ctx, () => ready);
  const end = async (messageId: string) => {
    const row = await store.inbox.find({ messageId });
    if (row === undefined) throw new Error(`no message ${messageId}`);
    await store.inbox.settle(row.id, "failed-reported", { rule: "overloaded" });
    outcomes.settle(row.id, { state: "failed", text: "", error: { code: "overloaded", message: "later" } });
  };
  /** Ends it by a run, of which nobody here was told. */
  const answer = async (messageId: string, messages: readonly AssistantMessage[]) => {
    const row = await store.inbox.find({ messageId });
    const lease = await store.leases.acquire("gateway", "test", 30_000);
    if (row === undefined || lease === undefined) throw new Error(`no message ${messageId}, or no lease`);
    const session = { key: "s", agentId: "coder", channel: "api", account: "main", peer: "alice" };
    const begun = await store.runs.begin({
      session: { ...session, kind: "direct" },
      lease,
      inboxIds: [row.id],
      userMessages: [],
    });
    const inbox = [{ id: row.id, state: "replied" }] as const;
    await store.runs.finish({ runId: begun.run.id, lease, outcome: "completed", inbox, messages });
    // As behind a restart.
    outcomes.close();
  };
  /** Ends it as a command that needs no run does, which nobody here was told. */
  const command = async (messageId: string, text: string) => {
    const row = await store.inbox.find({ messageId });
    if (row === undefined) throw new Error(`no message ${messageId}`);
    const { id, payload: stored } = row;
    await exchanges.keep("s", [{ sessionKey: "s", agentId: "coder", stored }], {
      id,
      text,
      outcome: "replied",
    });
    await store.inbox.settle(id, "replied", { rule: "command:status" });
    outcomes.close();
  };
  return { service, end, answer, command, store };
}

const nothing = () => Promise.reject(new Error("nothing is fetched"));

function eventOf(channel: string, { id, text, conversation, user, turn }: WebMessage): MessageEvent {
  return normalizeEvent({
    type: "message",
    eventId: id,
    messageId: id,
    channel,
    account: "main",
    timestamp: 1,
    address: conversation,
    conversation: { kind: "direct", id: conversation },
    sender: { ...user, isBot: false, isSelf: false },
    addressed: "dm",
    text,
    media: [],
    mentions: [],
    ...(turn === undefined ? {} : { turn: normalizeTurn(turn) }),
  });
}

it("takes a message and tells its end, to whoever asks for it under the same id, too", async () => {
  const { service, end } = await gateway();
  const submitted = await service.submit(SUBMISSION);
  const again = await service.submit(SUBMISSION);
  expect([submitted.kind, again.kind]).toEqual(["accepted", "duplicate"]);
  await end("m1");
  for (const taken of [submitted, again, await service.submit(SUBMISSION)])
    expect(taken.kind !== "refused" && (await taken.done)).toMatchObject({
      state: "failed",
      error: { code: "overloaded" },
    });
});

it("tells later what was answered, a turn that went on behind the model's limit in one piece", async () => {
  const { service, answer } = await gateway();
  await service.submit(SUBMISSION);
  await answer("m1", [
    assistantMessage("I look."),
    assistantMessage("The first half, ", { stopReason: "max_tokens" }),
    assistantMessage("and the rest."),
  ]);
  const again = await service.submit(SUBMISSION);
  expect(again.kind === "duplicate" && (await again.done).text).toBe(
    "I look.\n\nThe first half, and the rest.",
  );
});

it("tells later what a command said, which is no conversation that anybody looks at", async () => {
  const { service, command, store } = await gateway();
  await service.submit({ ...SUBMISSION, text: "/status" });
  await command("m1", "All is well.");
  const again = await service.submit({ ...SUBMISSION, text: "/status" });
  expect(again.kind === "duplicate" && (await again.done).text).toBe("All is well.");
  expect(await store.sessions.list()).toEqual([]);
});

it("refuses another message under an id that was taken", async () => {
  const { service } = await gateway();
  await service.submit(SUBMISSION);
  expect(await service.submit({ ...SUBMISSION, text: "something else" })).toMatchObject({
    kind: "refused",
    code: "id_taken",
  });
});

it("takes no message for a repetition of what somebody else said under its id", async () => {
  const { service } = await gateway();
  const [alice, bob] = [
    { name: "alice", role: "member" },
    { name: "bob", role: "member" },
  ] as const;
  const said = { ...SUBMISSION, channel: "web", conversation: "alice/c1", sender: alice } as const;
  const kinds = [
    await service.submit(said),
    await service.submit({ ...said, text: "hello again" }),
    await service.submit({ ...said, conversation: "bob/c1", sender: bob }),
    await service.submit({ ...said, conversation: "alice/c2" }),
  ].map(({ kind }) => kind);
  expect(kinds).toEqual(["accepted", "duplicate", "refused", "refused"]);
});

it("refuses what nobody can answer, and what there is no room for", async () => {
  const full = await gateway({ room: 1 });
  await full.service.submit(SUBMISSION);
  const stopping = await gateway({ ready: false });
  const refusals = await Promise.all([
    full.service.submit({ ...SUBMISSION, id: "m2" }),
    full.service.submit({ ...SUBMISSION, agent: "nobody" }),
    stopping.service.submit(SUBMISSION),
  ]);
  expect(refusals).toMatchObject([{ code: "full" }, { code: "no_agent" }, { code: "stopping" }]);
});
