import type { MessageEvent } from "@signalbox/channel";
import { createSupervisor } from "@signalbox/lanes";
import { createManualClock } from "@signalbox/lanes/testkit";
import { groupKey } from "@signalbox/prompt";
import type { Outcome } from "@signalbox/server";
import { openStore, StoreError } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { describe, expect, it, onTestFinished } from "vitest";
import type { GatewayBodies, GatewayStore, InboundRecord } from "../../store.ts";
import { judgeFailure } from "../failures.ts";
import { createUnanswered } from "./unanswered.ts";

const event: MessageEvent = {
  type: "message",
  eventId: "e1",
  messageId: "m1",
  channel: "plain",
  account: "main",
  conversation: { id: "g", kind: "group" },
  address: "plain:g",
  addressed: "none",
  sender: { id: "anna", isBot: false, isSelf: false },
  timestamp: 0,
  text: "lunch at noon",
  media: [],
  mentions: [],
};
const stored: InboundRecord = { event, role: "guest", rule: "not_addressed" };

async function world() {
  const store = await openStore<GatewayBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 30_000);
  if (!lease) throw new Error("no lease");
  const accepted = await store.inbox.accept({
    channel: "plain",
    account: "main",
    eventId: "e1",
    messageId: "m1",
    kind: "message",
    conversationId: "g",
    senderId: "anna",
    payload: stored,
  });
  if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
  const fatal: unknown[] = [];
  const told: [string, Outcome][] = [];
  const clock = createManualClock();
  const aside = (over: Partial<Pick<GatewayStore, "inbox" | "groupHistory" | "pairing">>) =>
    createUnanswered({
      store: { ...store, ...over },
      lease,
      logger: createLogger("silent", (text) => text),
      now: Date.now,
      historyLimit: () => 20,
      nameOf: async ({ sender }) => sender.id,
      wakeOutbox: () => {},
      onOutcome: (...end) => told.push(end),
      supervisor: createSupervisor({
        retryPolicy: judgeFailure,
        clock,
        onFatal: (error) => fatal.push(error),
      }),
    });
  const state = async () => (await store.inbox.get(accepted.id))?.state;
  return { store, id: accepted.id, aside, fatal, told, clock, state };
}

/** Fails so often, then does what it should. */
function failing<A extends readonly unknown[], R>(
  times: number,
  error: Error,
  work: (...args: A) => Promise<R>,
) {
  let left = times;
  return (...args: A): Promise<R> => (left-- > 0 ? Promise.reject(error) : work(...args));
}

describe("a message that no run answers", () => {
  it("gets its end however often the store fails, with what it says by then", async () => {
    const { store, id, aside, clock, state } = await world();
    const { groupHistory } = store;
    const full = new StoreError("disk_full", "no room");
    const push = failing(3, full, groupHistory.push);
    const ended = aside({ groupHistory: { ...groupHistory, push } }).end(id, stored, "keep", "not_addressed");
    expect(await state()).toBe("accepted");
    await store.inbox.revise(event, { ...stored, event: { ...event, text: "lunch at one" } });
    await clock.advance(60_000);
    await ended;
    expect(await state()).toBe("ignored");
    const [kept] = await groupHistory.list(groupKey(event));
    expect(kept?.body).toEqual({ text: "lunch at one" });
  });

  it("has its end told to whoever waits for it", async () => {
    const { id, aside, told } = await world();
    await aside({}).end(id, stored, "ignore", "token_revoked");
    expect(told).toMatchObject([[id, { state: "ignored", error: { code: "token_revoked" } }]]);
  });

  it("is not kept once it was deleted meanwhile", async () => {
    const { store, id, aside, clock } = await world();
    const { groupHistory } = store;
    const push = failing(1, new StoreError("locked", "held"), groupHistory.push);
    const ended = aside({ groupHistory: { ...groupHistory, push } }).end(id, stored, "keep", "not_addressed");
    await store.inbox.withdraw(event);
    await clock.advance(10_000);
    await ended;
    expect(await groupHistory.list(groupKey(event))).toEqual([]);
  });

  it("gets its end without what its rule asks for, where that cannot be had", async () => {
    const { store, id, aside, state } = await world();
    const request = () => Promise.reject(new StoreError("invalid", "no such key"));
    await aside({ pairing: { ...store.pairing, request } }).end(id, stored, "pair", "dm_unknown");
    expect(await state()).toBe("ignored");
  });

  it("is left for the next start where the store refuses its end for good, and is tried no more", async () => {
    const { store, id, aside, clock, told, state } = await world();
    let settles = 0;
    const settle = () => {
      settles += 1;
      return Promise.reject(new StoreError("invalid", "no such state"));
    };
    const ended = aside({ inbox: { ...store.inbox, settle } }).end(id, stored, "ignore", "bot");
    await clock.advance(3_600_000);
    expect(settles).toBeLessThan(6);
    await ended;
    expect(told).toHaveLength(1);
    expect(await state()).toBe("accepted");
  });

  it("waits for the next start where this process can write no more", async () => {
    const { store, id, aside, fatal, clock, state } = await world();
    const settle = () => Promise.reject(new StoreError("io", "the disk is gone"));
    await aside({ inbox: { ...store.inbox, settle } }).end(id, stored, "ignore", "bot");
    expect(fatal).toHaveLength(1);
    await clock.advance(600_000);
    expect(await state()).toBe("accepted");
  });
});
