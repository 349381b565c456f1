import type { Capabilities, DeletedEvent, EditedEvent, EmitResult, MessageEvent } from "@signalbox/channel";
import type { Lanes } from "@signalbox/lanes";
import { editsKey, groupKey, groupWords } from "@signalbox/prompt";
import type { InboxId, InboxRoute, InboxRow, LeaseToken, PlatformMessage } from "@signalbox/store";
import { findOfBot, inboxKeys, inboxName } from "../../api/bots.ts";
import type { GatewayBodies, GatewayStore, InboundRecord } from "../../store.ts";
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

/** A message that addresses the agent since it was edited. It is received like a new one. */
export interface NewlyAddressed {
  readonly event: MessageEvent;
  /** `message` if it was never received before, so that its id is known from now on. */
  readonly as: "message" | "edited";
  /** Called with the inbox row that answers it, so that later edits and a deletion find it. */
  taken(id: InboxId): Promise<void>;
}

/** Older messages that become known only by an edit are not answered. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/** Handles edits and deletions of messages on their platform. */
export interface Edits {
  edited(event: EditedEvent): Promise<EmitResult | NewlyAddressed>;
  deleted(event: DeletedEvent): Promise<EmitResult>;
}

export function createEdits(options: EditsOptions): Edits {
  return {
    edited: (event) => edited(options, event),
    deleted: (event) => deleted(options, event),
  };
}

async function edited(options: EditsOptions, event: EditedEvent): Promise<EmitResult | NewlyAddressed> {
  const { inbox } = options.store;
  const original = await findOfBot(inbox, event);
  if (original === undefined) return isNewlyAddressed(event) ? newMessage(event) : "accepted";
  if (original.kind !== "message") return "accepted";
  // Nobody may change what someone else wrote.
  if (original.senderId !== event.sender.id || original.conversationId !== event.conversation.id)
    return "accepted";
  const { answeredAs } = original.payload;
  const before = (answeredAs && (await inbox.get(answeredAs))) ?? original;
  const stored: InboundRecord = { ...before.payload, event: asMessage(event, before.payload.event) };
  if (before.route === undefined) return editedUnanswered(options, before, stored, event);
  return editedAnswered(options, { ...before, route: before.route }, stored, event);
}

/** A message that the agent did not answer. If it addresses the agent now, it is received once more. */
async function editedUnanswered(
  options: EditsOptions,
  before: InboxRow<GatewayBodies>,
  stored: InboundRecord,
  event: EditedEvent,
): Promise<EmitResult | NewlyAddressed> {
  const { groupHistory } = options.store;
  if (before.payload.event.addressed === "none" && isAddressed(event)) {
    await groupHistory.clear(groupKey(event), event.messageId);
    return {
      event: stored.event,
      as: "edited",
      taken: async (answeredAs) => void (await revise(options, inboxName(before), { ...stored, answeredAs })),
    };
  }
  await revise(options, inboxName(before), stored);
  await groupHistory.revise(groupKey(event), event.messageId, groupWords(stored.event));
  return "accepted";
}

async function editedAnswered(
  options: EditsOptions,
  before: InboxRow<GatewayBodies> & { readonly route: InboxRoute },
  stored: InboundRecord,
  event: EditedEvent,
): Promise<EmitResult> {
  const { route, state } = before;
  await options.queue.expect(route.sessionKey);
  // The lane comes first: a row that says what no run was told would hide, when the edit is delivered again after a
  // crash, that it still has to be told.
  if (takesEdit(options, before, stored)) {
    await revise(options, inboxName(before), stored);
    return "accepted";
  }
  const isChanged = event.text !== before.payload.event.text && before.detail?.rule !== DELETED;
  const isRunning = state === "queued" || state === "running";
  if (isChanged && isRunning && event.automatic !== true) {
    // A run has read it, or is about to. The correction steers that run.
    const text = `(edited) ${event.text}`;
    return correct(options, { ...stored, event: { ...stored.event, text } }, route);
  }
  await noteEdit(options, stored.event, route, isChanged ? event.timestamp : undefined);
  return "accepted";
}

/**
 * Tells the next run of the session how the message reads now. A later edit replaces an earlier one.
 *
 * @param at time of the edit, or `undefined` if the message reads as the agent has read it
 */
async function noteEdit(
  { store: { groupHistory } }: EditsOptions,
  event: MessageEvent,
  { sessionKey }: InboxRoute,
  at: number | undefined,
): Promise<void> {
  const { messageId: id, sender } = event;
  if (at === undefined) return groupHistory.clear(editsKey(sessionKey), id);
  await groupHistory.push(editsKey(sessionKey), { id, senderId: sender.id, body: groupWords(event), at });
}

/** A client's options for the turn stay as they were; an edit sets none. */
function asMessage(edited: EditedEvent & { readonly turn?: unknown }, before?: MessageEvent): MessageEvent {
  const { sentAt: _, automatic: __, turn: ___, ...event } = edited;
  return { ...event, type: "message", turn: before?.turn };
}

/**
 * A message that was never received, because the bot gets only messages that address it. An old one is left alone: it
 * may have been answered and forgotten since.
 */
function isNewlyAddressed(event: EditedEvent): boolean {
  const { sentAt, timestamp } = event;
  return isAddressed(event) && sentAt !== undefined && timestamp - sentAt <= MAX_AGE_MS;
}

function isAddressed({ addressed, automatic = false }: EditedEvent): boolean {
  return !automatic && (addressed === "mention" || addressed === "reply");
}

function newMessage(event: EditedEvent): NewlyAddressed {
  return { event: asMessage(event), as: "message", taken: async () => {} };
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
  const original = await findOfBot(store.inbox, event);
  if (original === undefined) return "accepted";
  const { answeredAs } = original.payload;
  const row = (answeredAs && (await store.inbox.get(answeredAs))) ?? original;
  const sessionKey = row.route?.sessionKey;
  if (sessionKey !== undefined) await store.groupHistory.clear(editsKey(sessionKey), event.messageId);
  // Corrections of it are messages of their own.
  const held =
    sessionKey === undefined ? [] : lanes.all(sessionKey).flatMap((item) => idsOfMessage(item, event));
  const ids = new Set([row.id, ...held]);
  // A run hears of it before the store does: what the run commits from now on heeds it.
  if (sessionKey !== undefined) for (const id of ids) lanes.recall(sessionKey, id, new TakenBack());
  await Promise.all([...ids].map((id) => withdraw(options, id, sessionKey)));
  await store.inbox.revise(inboxName(original), withoutWords(original.payload));
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
