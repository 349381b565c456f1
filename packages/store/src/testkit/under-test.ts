import { AssertionError } from "node:assert";
import { inspect, isDeepStrictEqual } from "node:util";
import type { InboxId, LeaseToken } from "../types/common.ts";
import type { InboxAccept, InboxRow, InboxState } from "../types/inbox.ts";
import type { OutboxInsert, OutboxRow } from "../types/outbox.ts";
import type { Run } from "../types/runs.ts";
import type { SessionSeed } from "../types/sessions.ts";
import type { Store } from "../types/store.ts";

/** A fresh, empty store with a clock that the test suite controls. */
export interface StoreUnderTest {
  readonly store: Store;
  now(): number;
  /** Advances the clock by the given number of milliseconds. A negative number sets it back. */
  advance(ms: number): void;
}

/** The `test` function of a runner, such as Vitest's. */
export type Test = (name: string, run: () => Promise<void>) => void;

/** Checks one fact about a store. */
type Check = (under: StoreUnderTest) => Promise<void>;

/** Checks, keyed by the fact that each of them verifies. */
export type Checks = Readonly<Record<string, Check>>;

export const LEASE_MS = 30_000;

/** The account of all messages in the suite. */
export const ACCOUNT = { channel: "plain", account: "main" } as const;

/**
 * Fails with `sentence` and both values unless the values are deeply equal. Ignores properties that are `undefined`.
 */
export function expectEqual(actual: unknown, expected: unknown, sentence: string): void {
  if (isDeepStrictEqual(withoutUndefined(actual), withoutUndefined(expected))) return;
  const message = `${sentence}\nexpected: ${inspect(expected, { depth: 6 })}\nactual: ${inspect(actual, { depth: 6 })}`;
  throw new AssertionError({ message, actual, expected, operator: "deepStrictEqual" });
}

function withoutUndefined(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Fails with `sentence` unless the call rejects with a `StoreError` with this code. */
export async function expectRejection(call: Promise<unknown>, code: string, sentence: string): Promise<void> {
  const actual = await call.then(
    () => "resolved",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  );
  expectEqual(actual, code, sentence);
}

/** Fails with `sentence` if the value is `undefined`. */
export function expectDefined<T>(value: T | undefined, sentence: string): T {
  if (value === undefined) throw new AssertionError({ message: sentence, actual: value });
  return value;
}

export function getIds(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

export function toSeed(key: string): SessionSeed {
  return { ...ACCOUNT, key, agentId: "coder", peer: `peer of ${key}`, kind: "direct" };
}

/** Returns a session's queued messages in order. */
export async function getQueued(store: Store, sessionKey: string): Promise<readonly InboxRow[]> {
  return (await store.inbox.list({ state: "queued", sessionKey })).toReversed();
}

/** Returns a platform event with a message. The event is routed if `sessionKey` is given. */
export function toEvent(id: string, sessionKey?: string): InboxAccept {
  return {
    ...ACCOUNT,
    eventId: `event-${id}`,
    messageId: `message-${id}`,
    kind: "message",
    conversationId: "c",
    senderId: "s",
    payload: { text: id },
    route: sessionKey === undefined ? undefined : { agentId: "coder", sessionKey },
  };
}

/** Returns a reply to send. */
export function toReply(address: string, extra: Partial<OutboxInsert> = {}): OutboxInsert {
  return { ...ACCOUNT, address, payload: { text: "hello" }, ...extra };
}

/** Adds one reply to the outbox. */
export async function enqueue(
  store: Store,
  lease: LeaseToken,
  address: string,
  extra: Partial<OutboxInsert> = {},
): Promise<OutboxRow> {
  const [row] = await store.outbox.enqueue([toReply(address, extra)], { lease });
  return expectDefined(row, "outbox.enqueue returned no row.");
}

export async function acquire(store: Store, holder = "one", name = "gateway"): Promise<LeaseToken> {
  const lease = await store.leases.acquire(name, holder, LEASE_MS);
  return expectDefined(lease, `The lease "${name}" could not be acquired.`);
}

/** Accepts a message and returns its id. */
export async function accept(store: Store, id: string, sessionKey: string): Promise<InboxId> {
  return (await acceptWaiting(store, id, sessionKey)).id;
}

/** Accepts a message and leaves it waiting, with or without a session, under a process's lease if one is given. */
export async function acceptWaiting(
  store: Store,
  id: string,
  sessionKey?: string,
  lease?: LeaseToken,
): Promise<{ readonly id: InboxId; readonly state: InboxState }> {
  const accepted = await store.inbox.accept({ ...toEvent(id, sessionKey), lease });
  if (accepted.outcome !== "accepted")
    throw new Error(`Message ${id} was not accepted: ${accepted.outcome}.`);
  return { id: accepted.id, state: accepted.state };
}

/** Accepts a message for each text and begins a run that answers them. */
export async function begin(
  store: Store,
  lease: LeaseToken,
  sessionKey: string,
  texts: readonly string[],
): Promise<{ readonly run: Run; readonly inboxIds: readonly InboxId[] }> {
  const inboxIds: InboxId[] = [];
  for (const text of texts) inboxIds.push(await accept(store, text, sessionKey));
  const begun = await store.runs.begin({
    session: toSeed(sessionKey),
    lease,
    inboxIds,
    userMessages: texts.map((text) => ({ user: text })),
  });
  if (begun.outcome !== "started") throw new Error(`Session ${sessionKey} is busy.`);
  return { run: begun.run, inboxIds };
}

/** Processes one message from its acceptance to the end of its run, with one reply. */
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
    messages: [{ assistant: text }],
    outbox: [toReply("c", { payload: { text } })],
    usage: { modelCalls: 1, inputTokens: 10, costMicros: 7 },
    models: [{ model: "vendor/large", modelCalls: 1, inputTokens: 6, costMicros: 7 }],
  });
  return run;
}
