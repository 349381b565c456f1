import type { Capabilities, DeletedEvent, EditedEvent, EmitResult, MessageEvent } from "@signalbox/channel";
import type { Lanes } from "@signalbox/lanes";
import { groupKey, groupWords } from "@signalbox/prompt";
import type { InboxId, InboxRoute, InboxRow, LeaseToken, PlatformMessage } from "@signalbox/store";
import { findOfBot, inboxKeys, inboxName } from "../../api/bots.ts";
import type { GatewayStore, InboundRecord } from "../../store.ts";
import type { Tracer } from "../../traces.ts";
import { isExclusive } from "../2-admit/admit.ts";
import { DELETED, idsOfMessage, type Queued, type QueuedMessage, TakenBack } from "./message.ts";
import type { Queue } from "./queue.ts";

export interface EditsOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly lanes: Pick<Lanes<Queued>, "all" | "recall" | "replace" | "withdraw">;
  readonly queue: Queue;
  readonly capabilities: (event: MessageEvent) => Capabilities | undefined;
  readonly tracer: Tracer;
}

/** What people do to messages they have sent. */
export interface Edits {
  edited(event: EditedEvent): Promise<EmitResult>;
  deleted(event: DeletedEvent): Promise<EmitResult>;
}

export function createEdits(options: EditsOptions): Edits {
  return {
    edited: (event) => edited(options, event),
    deleted: (event) => deleted(options, event),
  };
}

async function edited(options: EditsOptions, event: EditedEvent): Promise<EmitResult> {
  const before = await findOfBot(options.store.inbox, event);
  if (before?.kind !== "message") return "accepted";
  // What a client asked of its turn stays as it was; an edit asks for nothing.
  const { turn } = before.payload.event;
  const { turn: _, ...said }: EditedEvent & { readonly turn?: unknown } = event;
  const asMessage: MessageEvent = { ...said, type: "message", ...(turn === undefined ? {} : { turn }) };
  // Nobody speaks with the rights of another by changing what that one wrote.
  if (before.senderId !== event.sender.id || before.conversationId !== event.conversation.id)
    return "accepted";
  const stored: InboundRecord = { ...before.payload, event: asMessage };
  const { route, state } = before;
  if (route === undefined) {
    await revise(options, inboxName(before), stored);
    await options.store.groupHistory.revise(groupKey(event), event.messageId, groupWords(asMessage));
    return "accepted";
  }
  await options.queue.expect(route.sessionKey);
  // The lane comes first: a row that says what no run was told would hide, when the edit is delivered again after a
  // crash, that it still has to be told.
  if (takesEdit(options, { ...before, route }, stored)) {
    await revise(options, inboxName(before), stored);
    return "accepted";
  }
  const underWay = state === "queued" || state === "running";
  if (!underWay || event.text === before.payload.event.text) return "accepted";
  // A run has read it, or is about to: what it says now comes as a message of its own, and steers that run.
  return correct(options, { ...stored, event: { ...asMessage, text: `(edited) ${event.text}` } }, route);
}

async function revise({ store, tracer }: EditsOptions, named: PlatformMessage, stored: InboundRecord) {
  const change = await store.inbox.revise(named, stored);
  if (change.outcome === "applied")
    tracer.note(change.id, "intake", "edited on the platform before it was answered");
}

/** Whether a message still waits, so that its run will read what it says now. */
function takesEdit(
  { queue, lanes, capabilities }: EditsOptions,
  { id, seq, route }: Pick<InboxRow, "id" | "seq"> & { readonly route: InboxRoute },
  stored: InboundRecord,
): boolean {
  const exclusive = isExclusive(stored, capabilities(stored.event));
  const revised: QueuedMessage = { kind: "message", id, seq, ...route, stored, exclusive };
  const later = queue.revised(revised);
  if (later !== undefined) return lanes.replace(later);
  if (!lanes.withdraw(route.sessionKey, id)) return false;
  queue.enter(revised);
  return true;
}

async function correct(
  { store, lease, queue, tracer, capabilities }: EditsOptions,
  stored: InboundRecord,
  route: InboxRoute,
): Promise<EmitResult> {
  const { event } = stored;
  const accepted = await store.inbox.accept({
    ...inboxKeys(event),
    messageId: event.messageId,
    kind: "edited",
    payload: stored,
    route,
    lease,
  });
  if (accepted.outcome === "full") return "rejected";
  if (accepted.outcome === "duplicate") return "duplicate";
  tracer.note(accepted.id, "intake", `message ${event.messageId} was edited while it was being answered`);
  const { id, seq } = accepted;
  const exclusive = isExclusive(stored, capabilities(event));
  queue.enter({ kind: "message", id, seq, ...route, stored, exclusive });
  return "accepted";
}

async function deleted(options: EditsOptions, event: DeletedEvent): Promise<EmitResult> {
  const { store, lanes } = options;
  await store.groupHistory.clear(groupKey(event), event.messageId);
  const row = await findOfBot(store.inbox, event);
  if (row === undefined) return "accepted";
  const sessionKey = row.route?.sessionKey;
  // Corrections of it are messages of their own.
  const held =
    sessionKey === undefined ? [] : lanes.all(sessionKey).flatMap((item) => idsOfMessage(item, event));
  const ids = new Set([row.id, ...held]);
  // A run hears of it before the store does: what the run commits from now on heeds it.
  if (sessionKey !== undefined) for (const id of ids) lanes.recall(sessionKey, id, new TakenBack());
  await Promise.all([...ids].map((id) => withdraw(options, id, sessionKey)));
  await store.inbox.revise(inboxName(row), withoutWords(row.payload));
  return "accepted";
}

/** What is kept of a deleted message that no run has read: that it was there. */
function withoutWords({ event: { references: _, ...event }, ...stored }: InboundRecord): InboundRecord {
  return { ...stored, event: { ...event, text: "", media: [], mentions: [] } };
}

async function withdraw(
  { store, lanes, tracer }: EditsOptions,
  id: InboxId,
  sessionKey: string | undefined,
): Promise<void> {
  const change = await store.inbox.withdraw(id, { rule: DELETED, reason: "deleted on the platform" });
  if (change.outcome !== "applied") return;
  const when = change.state === "running" ? "while it was being answered" : "before it was answered";
  tracer.note(id, "intake", `deleted on the platform ${when}`);
  if (sessionKey === undefined || lanes.recall(sessionKey, id, new TakenBack())) return;
  lanes.withdraw(sessionKey, id);
}
