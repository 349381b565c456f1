import type { MessageEvent } from "@signalbox/channel";
import { createSupervisor } from "@signalbox/lanes";
import { createManualClock } from "@signalbox/lanes/testkit";
import { getGroupKey } from "@signalbox/prompt";
import type { Outcome } from "@signalbox/server";
import { openStore, StoreError } from "@signalbox/store";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeContext } from "../../../test/support/fake-context.ts";
import { classifyFailure } from "../../messages/failures.ts";
import type { GatewayBodies, GatewayStore, InboundRecord } from "../../store.ts";
import { endUnanswered } from "./unanswered.ts";

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
  const end = (
    kind: "pair" | "keep" | "ignore",
    rule: string,
    over: Partial<Pick<GatewayStore, "inbox" | "groupHistory" | "pairing">> = {},
  ) =>
    endUnanswered(
      fakeContext({
        store: { ...store, ...over },
        lease,
        config: { current: () => ({ settings: { access: { groups: { historyLimit: 20 } } } }) },
        accounts: { get: () => undefined },
        delivery: { wake() {} },
        outcomes: { settle: (...outcome: [string, Outcome]) => told.push(outcome) },
        subAgents: { ended() {} },
        supervisor: createSupervisor({
          retryPolicy: classifyFailure,
          clock,
          onFatal: (error) => fatal.push(error),
        }),
      }),
      { id: accepted.id, stored },
      { kind, rule },
    );
  const state = async () => (await store.inbox.get(accepted.id))?.state;
  return { store, id: accepted.id, end, fatal, told, clock, state };
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
    const { store, end, clock, state } = await world();
    const { groupHistory } = store;
    const full = new StoreError("disk_full", "no room");
    const push = failing(3, full, groupHistory.push);
    const ended = end("keep", "not_addressed", { groupHistory: { ...groupHistory, push } });
    expect(await state()).toBe("accepted");
    await store.inbox.revise(event, { ...stored, event: { ...event, text: "lunch at one" } });
    await clock.advance(60_000);
    await ended;
    expect(await state()).toBe("ignored");
    const [kept] = await groupHistory.list(getGroupKey(event));
    expect(kept?.body).toEqual({ text: "lunch at one" });
  });

  it("has its end told to whoever waits for it", async () => {
    const { id, end, told } = await world();
    await end("ignore", "token_revoked");
    expect(told).toMatchObject([[id, { state: "ignored", error: { code: "token_revoked" } }]]);
  });

  it("is not kept once it was deleted meanwhile", async () => {
    const { store, end, clock } = await world();
    const { groupHistory } = store;
    const push = failing(1, new StoreError("locked", "held"), groupHistory.push);
    const ended = end("keep", "not_addressed", { groupHistory: { ...groupHistory, push } });
    await store.inbox.withdraw(event);
    await clock.advance(10_000);
    await ended;
    expect(await groupHistory.list(getGroupKey(event))).toEqual([]);
  });

  it("gets its end without what its rule asks for, where that cannot be had", async () => {
    const { store, end, state } = await world();
    const request = () => Promise.reject(new StoreError("invalid", "no such key"));
    await end("pair", "dm_unknown", { pairing: { ...store.pairing, request } });
    expect(await state()).toBe("ignored");
  });

  it("is left for the next start where the store refuses its end for good, and is tried no more", async () => {
    const { store, end, clock, told, state } = await world();
    let settles = 0;
    const settle = () => {
      settles += 1;
      return Promise.reject(new StoreError("invalid", "no such state"));
    };
    const ended = end("ignore", "bot", { inbox: { ...store.inbox, settle } });
    await clock.advance(3_600_000);
    expect(settles).toBeLessThan(6);
    await ended;
    expect(told).toHaveLength(1);
    expect(await state()).toBe("accepted");
  });

  it("waits for the next start where this process can write no more", async () => {
    const { store, end, fatal, clock, state } = await world();
    const settle = () => Promise.reject(new StoreError("io", "the disk is gone"));
    await end("ignore", "bot", { inbox: { ...store.inbox, settle } });
    expect(fatal).toHaveLength(1);
    await clock.advance(600_000);
    expect(await state()).toBe("accepted");
  });
});
