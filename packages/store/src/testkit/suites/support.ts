import type { InboxId } from "../../types/common.ts";
import type { InboxAccept, InboxRow } from "../../types/inbox.ts";
import type { Lease } from "../../types/leases.ts";
import type { Run } from "../../types/runs.ts";
import type { SessionSeed } from "../../types/sessions.ts";
import type { Store } from "../../types/store.ts";

/** Acquires a lease of 30 seconds. */
export async function takeLease(
  store: Pick<Store, "leases">,
  name = "gateway",
  holder = "test",
): Promise<Lease> {
  const lease = await store.leases.acquire(name, holder, 30_000);
  if (lease === undefined) throw new Error(`the lease "${name}" is held`);
  return lease;
}

/** Returns the initial values of a session. */
export function seed(key = "agent:coder:one"): SessionSeed {
  return { key, agentId: "coder", channel: "feishu", account: "main", peer: "ou_1", kind: "direct" };
}

/** Returns a platform event with a message. */
export function event(id: string, sessionKey?: string): InboxAccept {
  return {
    channel: "feishu",
    account: "main",
    eventId: `ev-${id}`,
    messageId: `om-${id}`,
    kind: "message",
    conversationId: "oc_1",
    senderId: "ou_1",
    payload: { text: id },
    route: sessionKey === undefined ? undefined : { agentId: "coder", sessionKey },
  };
}

/** Accepts a message and returns its id. */
export async function accepted(store: Store, id: string, sessionKey = "agent:coder:one"): Promise<InboxId> {
  const answer = await store.inbox.accept(event(id, sessionKey));
  if (answer.outcome !== "accepted") throw new Error(`event ${id}: ${answer.outcome}`);
  return answer.id;
}

/** Returns the waiting messages of a session in order. */
export async function queuedIn(store: Store, sessionKey: string): Promise<readonly InboxRow[]> {
  return (await store.inbox.list({ state: "queued", sessionKey, limit: 1_000 })).toReversed();
}

/** Accepts one message for each text and begins a run that answers them. */
export async function begun(
  store: Store,
  lease: Lease,
  texts: readonly string[],
  key = "agent:coder:one",
  sender?: string,
): Promise<{ run: Run; inboxIds: InboxId[] }> {
  const inboxIds: InboxId[] = [];
  for (const text of texts) inboxIds.push(await accepted(store, text, key));
  const userMessages = texts.map((text) => ({ role: "user", content: text }));
  const asked = { session: seed(key), lease, inboxIds, userMessages };
  const answer = await store.runs.begin(sender === undefined ? asked : { ...asked, sender });
  if (answer.outcome !== "started") throw new Error(`the session is ${answer.outcome}`);
  return { run: answer.run, inboxIds };
}

/** Accepts a message and answers it in a run that sends one reply. */
export async function answered(
  store: Store,
  lease: Lease,
  text: string,
  key = "agent:coder:one",
): Promise<Run> {
  const { run, inboxIds } = await begun(store, lease, [text], key);
  await store.runs.finish({
    runId: run.id,
    lease,
    outcome: "completed",
    inbox: inboxIds.map((id) => ({ id, state: "replied" })),
    messages: [{ role: "assistant", content: `re: ${text}` }],
    outbox: [reply(text)],
    usage: { modelCalls: 1, inputTokens: 10, outputTokens: 5, costMicros: 7 },
  });
  return run;
}

/** Returns a reply to send. */
export function reply(
  text: string,
  address = "oc_1",
): {
  channel: string;
  account: string;
  address: string;
  payload: { text: string };
} {
  return { channel: "feishu", account: "main", address, payload: { text } };
}

/** Returns the only value. */
export function only<V>(values: readonly V[]): V {
  const [value] = values;
  if (value === undefined || values.length !== 1) throw new Error(`one value, not ${values.length}`);
  return value;
}
