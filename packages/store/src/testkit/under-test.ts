import type { InboxId, LeaseToken } from "../types/common.ts";
import type { InboxAccept, InboxRow } from "../types/inbox.ts";
import type { Run } from "../types/runs.ts";
import type { SessionSeed } from "../types/sessions.ts";
import type { Store } from "../types/store.ts";

/** A fresh, empty store whose clock the suite moves. */
export interface StoreUnderTest {
  readonly store: Store;
  now(): number;
  /** Lets so many milliseconds pass. */
  advance(ms: number): void;
}

/** A runner's `test`, such as Vitest's. */
export type Test = (name: string, run: () => Promise<void>) => void;

/** What is asked of a store of its own. */
export type Check = (under: StoreUnderTest) => Promise<void>;

export const LEASE_MS = 30_000;

export function sessionOf(key: string): SessionSeed {
  return { key, agentId: "coder", channel: "plain", account: "main", peer: `peer of ${key}`, kind: "direct" };
}

/** What waits in one session, in its order. */
export async function queuedIn(store: Store, sessionKey: string): Promise<readonly InboxRow[]> {
  return (await store.inbox.list({ state: "queued", sessionKey })).toReversed();
}

export function eventOf(id: string, sessionKey?: string): InboxAccept {
  return {
    channel: "plain",
    account: "main",
    eventId: `event-${id}`,
    messageId: `message-${id}`,
    kind: "message",
    conversationId: "c",
    senderId: "s",
    payload: { text: id },
    ...(sessionKey === undefined ? {} : { route: { agentId: "coder", sessionKey } }),
  };
}

export async function take(store: Store, holder = "one", name = "gateway"): Promise<LeaseToken> {
  const lease = await store.leases.acquire(name, holder, LEASE_MS);
  if (lease === undefined) throw new Error(`the lease "${name}" is held`);
  return lease;
}

export async function accept(store: Store, id: string, sessionKey: string): Promise<InboxId> {
  const answer = await store.inbox.accept(eventOf(id, sessionKey));
  if (answer.outcome !== "accepted") throw new Error(`${id}: ${answer.outcome}`);
  return answer.id;
}

/** A message that was accepted, and waits. */
export async function waiting(store: Store, id: string, sessionKey?: string, lease?: LeaseToken) {
  const event = { ...eventOf(id, sessionKey), ...(lease === undefined ? {} : { lease }) };
  const answer = await store.inbox.accept(event);
  if (answer.outcome !== "accepted") throw new Error(`${id}: ${answer.outcome}`);
  return { id: answer.id, state: answer.state };
}

/** A run that answers a message for each text. */
export async function begin(
  store: Store,
  lease: LeaseToken,
  sessionKey: string,
  texts: readonly string[],
): Promise<{ readonly run: Run; readonly inboxIds: readonly InboxId[] }> {
  const inboxIds: InboxId[] = [];
  for (const text of texts) inboxIds.push(await accept(store, text, sessionKey));
  const begun = await store.runs.begin({
    session: sessionOf(sessionKey),
    lease,
    inboxIds,
    userMessages: texts.map((text) => ({ said: text })),
  });
  if (begun.outcome !== "started") throw new Error(`the session ${sessionKey} is busy`);
  return { run: begun.run, inboxIds };
}

/** A run from its beginning to its end, with one reply. */
export async function answer(
  store: Store,
  lease: LeaseToken,
  sessionKey: string,
  text: string,
): Promise<Run> {
  const { run, inboxIds } = await begin(store, lease, sessionKey, [text]);
  await store.runs.finish({
    runId: run.id,
    lease,
    outcome: "completed",
    inbox: inboxIds.map((id) => ({ id, state: "replied" })),
    messages: [{ answered: text }],
    outbox: [{ channel: "plain", account: "main", address: "c", payload: { text } }],
    usage: { modelCalls: 1, inputTokens: 10, costMicros: 7 },
  });
  return run;
}
