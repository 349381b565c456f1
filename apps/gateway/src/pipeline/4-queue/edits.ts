import type { DeletedEvent, EditedEvent, EmitResult, MessageEvent } from "@signalbox/channel";
import { createGroupBody, getEditsKey, getGroupKey } from "@signalbox/prompt";
import type { InboxId, InboxRoute, InboxRow, LeaseToken } from "@signalbox/store";
import type { GatewayContext } from "../../context.ts";
import { findOfBot, inboxKeys } from "../../messages/bots.ts";
import {
  DELETED,
  idsOfMessage,
  MessagesDeletedError,
  type QueuedMessage,
} from "../../messages/queued-message.ts";
import type { GatewayBodies, InboundRecord } from "../../store.ts";
import { isExclusive } from "../2-admit/admit.ts";
import type { Accepted } from "../3-accept/accept.ts";
import { enqueue, revised } from "./queue.ts";

/** A message that addresses the agent only since it was edited. It is received like a new message. */
export interface NewlyAddressed {
  readonly event: MessageEvent;
  /** `message` if it was never received before. Its id is then stored, so that later duplicates are detected. */
  readonly as: "message" | "edited";
  /** Called with the inbox row that answers the message, so that later edits and a deletion find it. */
  taken(id: InboxId): Promise<void>;
}

/** An edit that was accepted as a separate message. */
export interface Correction {
  readonly correction: Accepted;
  /** True if the message is reserved for this node. If false, earlier messages must be claimed first. */
  readonly isOurs: boolean;
}

/**
 * Maximum age of a message that first becomes known through an edit, in milliseconds. Older messages are not answered.
 */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;
/** Maximum age of a direct message whose edit may have overtaken it, in milliseconds. */
const MAX_OVERTAKING_MS = 60_000;

/** The message that an edit or a deletion changes. */
interface ChangedMessage {
  /** The agent and the session that answer it. */
  readonly route: InboxRoute;
  /** True if the message has not ended. */
  readonly isOpen: boolean;
}

/** Returns the message of an edit or a deletion, if an agent answers it. */
export async function findChanged(
  { store: { inbox } }: GatewayContext,
  event: EditedEvent | DeletedEvent,
): Promise<ChangedMessage | undefined> {
  const original = await findOfBot(inbox, event);
  const { answeredAs } = original?.payload ?? {};
  const row = (answeredAs && (await inbox.get(answeredAs))) ?? original;
  return row?.route && { route: row.route, isOpen: row.settledAt === undefined };
}

/**
 * Applies a person's edit to a message.
 *
 * @param wasOpen true if the message had not ended when another node received the edit
 */
export async function applyEdit(
  ctx: GatewayContext,
  event: EditedEvent,
  wasOpen: boolean,
): Promise<EmitResult | NewlyAddressed | Correction> {
  const { inbox } = ctx.store;
  const original = await findOfBot(inbox, event);
  if (original === undefined) return isNewlyAddressed(event) ? newMessage(event) : "accepted";
  if (original.kind !== "message") return "accepted";
  // People can change only their own messages.
  if (original.senderId !== event.sender.id || original.conversationId !== event.conversation.id)
    return "accepted";
  const { answeredAs } = original.payload;
  const before = (answeredAs && (await inbox.get(answeredAs))) ?? original;
  const stored: InboundRecord = { ...before.payload, event: asMessage(event, before.payload.event) };
  if (before.route === undefined) return editUnanswered(ctx, before, stored, event);
  const isOpen = wasOpen || before.state === "queued" || before.state === "running";
  return editAnswered(ctx, { ...before, route: before.route, isOpen }, stored, event);
}

/**
 * Handles an edit to a message that the agent did not answer. If the message now addresses the agent, it is received
 * again.
 */
async function editUnanswered(
  ctx: GatewayContext,
  before: InboxRow<GatewayBodies>,
  stored: InboundRecord,
  event: EditedEvent,
): Promise<EmitResult | NewlyAddressed> {
  const { groupHistory } = ctx.store;
  if (before.payload.event.addressed === "none" && isAddressed(event)) {
    await groupHistory.clear(getGroupKey(event), event.messageId);
    return {
      event: stored.event,
      as: "edited",
      taken: async (answeredAs) => void (await revise(ctx, before.id, { ...stored, answeredAs })),
    };
  }
  await revise(ctx, before.id, stored);
  await groupHistory.revise(getGroupKey(event), event.messageId, createGroupBody(stored.event));
  return "accepted";
}

async function editAnswered(
  ctx: GatewayContext,
  before: InboxRow<GatewayBodies> & ChangedMessage,
  stored: InboundRecord,
  event: EditedEvent,
): Promise<EmitResult | Correction> {
  const { route, isOpen } = before;
  // The message may still wait, for instance because the node that accepted the correction has died since.
  if ((await ctx.store.inbox.findEvent(inboxKeys(stored.event))) !== undefined) return "duplicate";
  await ctx.queueModes.read(route.sessionKey);
  if (await reviseWaiting(ctx, before, stored)) return "accepted";
  const earlier = before.payload.event;
  const isOther = event.text !== earlier.text || describeMedia(event) !== describeMedia(earlier);
  const isChanged = isOther && before.detail?.rule !== DELETED;
  if (isChanged && isOpen && event.automatic !== true) {
    // A run has read the message or is about to read it. The correction steers this run, or follows it.
    const text = `(edited) ${event.text}`;
    return correct(ctx, { ...stored, event: { ...stored.event, text } }, route);
  }
  await noteEdit(ctx, stored.event, route, isChanged ? event.timestamp : undefined);
  return "accepted";
}

/** Describes the attachments without their references, which may differ with each delivery. */
function describeMedia({ media }: Pick<MessageEvent, "media">): string {
  return JSON.stringify(media.map(({ kind, mimeType, name, size }) => [kind, mimeType, name, size]));
}

/**
 * Stores the new text of the message for the next run of the session. A later edit replaces an earlier one.
 *
 * @param at time of the edit, or `undefined` if the agent has already read this text
 */
async function noteEdit(
  { store: { groupHistory } }: GatewayContext,
  event: MessageEvent,
  { sessionKey }: InboxRoute,
  at: number | undefined,
): Promise<void> {
  const { messageId: id, sender } = event;
  if (at === undefined) return groupHistory.clear(getEditsKey(sessionKey), id);
  await groupHistory.push(getEditsKey(sessionKey), {
    id,
    senderId: sender.id,
    body: createGroupBody(event),
    at,
  });
}

/** Converts an edit to a message. The client's options for the run stay unchanged, because edits do not contain any. */
function asMessage(edited: EditedEvent & { readonly turn?: unknown }, before?: MessageEvent): MessageEvent {
  const { sentAt: _, automatic: __, turn: ___, ...event } = edited;
  return { ...event, type: "message", turn: before?.turn };
}

/**
 * Returns true for a message that was never received, because the bot only receives messages that address it, or
 * because its edit arrived first. An old message is left unchanged, because it may have been answered and forgotten
 * since.
 */
function isNewlyAddressed(event: EditedEvent): boolean {
  const { sentAt, timestamp, addressed, automatic = false } = event;
  if (sentAt === undefined) return false;
  const isOvertaking = addressed === "dm" && !automatic && timestamp - sentAt <= MAX_OVERTAKING_MS;
  return isOvertaking || (isAddressed(event) && timestamp - sentAt <= MAX_AGE_MS);
}

function isAddressed({ addressed, automatic = false }: EditedEvent): boolean {
  return !automatic && (addressed === "mention" || addressed === "reply");
}

function newMessage(event: EditedEvent): NewlyAddressed {
  return { event: asMessage(event), as: "message", taken: async () => {} };
}

async function revise(
  { store, tracer }: GatewayContext,
  id: InboxId,
  stored: InboundRecord,
  lease?: LeaseToken,
) {
  const change = await store.inbox.revise(id, stored, lease);
  if (change.outcome === "applied")
    tracer.note(change.id, "queue", "edited on the platform before it was answered");
}

/**
 * Applies an edit to a message that is still waiting, unless an earlier correction is waiting too. The message's run
 * starts only after the edit is stored. Otherwise the platform could deliver the edit again while the row still has the
 * earlier text, and the run would read the edit twice.
 *
 * @returns false if the message needs a correction instead
 */
async function reviseWaiting(
  ctx: GatewayContext,
  before: InboxRow<GatewayBodies> & { readonly route: InboxRoute },
  stored: InboundRecord,
): Promise<boolean> {
  const { id, seq, route } = before;
  // An earlier edit is read after the message, so this one must follow it.
  const isCorrected = ctx.lanes
    .all(route.sessionKey)
    .some((item) => idsOfMessage(item, stored.event).some((other) => other !== id));
  if (isCorrected) return false;
  const exclusive = isExclusive(stored, ctx.getCapabilities(stored.event.channel, stored.event.account));
  const later: QueuedMessage = { kind: "message", id, seq, ...route, stored, exclusive };
  const waiting = revised(ctx, later);
  const outcome = await ctx.lanes.change(route.sessionKey, id, async () => {
    // Throws if this node was suspended and another one has claimed the message with its earlier text.
    await revise(ctx, before.id, stored, ctx.lease);
    return waiting;
  });
  if (outcome === "changed" && waiting === undefined) enqueue(ctx, later);
  return outcome !== "not_waiting";
}

/** Accepts an edit as a message that corrects the one that a run has read. */
async function correct(
  ctx: GatewayContext,
  stored: InboundRecord,
  route: InboxRoute,
): Promise<EmitResult | Correction> {
  const { store, lease, tracer } = ctx;
  const { event, rule, role } = stored;
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
  const { id, seq, isUnclaimed = false } = accepted;
  tracer.note(id, "queue", `message ${event.messageId} was edited while it was being answered`);
  const exclusive = isExclusive(stored, ctx.getCapabilities(event.channel, event.account));
  const decision = { kind: "answer", rule, role } as const;
  return { correction: { id, seq, stored, route, exclusive, decision }, isOurs: !isUnclaimed };
}

/** Applies a person's deletion of a message. */
export async function applyDeletion(ctx: GatewayContext, event: DeletedEvent): Promise<EmitResult> {
  const { store, lanes } = ctx;
  await store.groupHistory.clear(getGroupKey(event), event.messageId);
  const original = await findOfBot(store.inbox, event);
  if (original === undefined) return "accepted";
  const { answeredAs } = original.payload;
  const row = (answeredAs && (await store.inbox.get(answeredAs))) ?? original;
  const sessionKey = row.route?.sessionKey;
  if (sessionKey !== undefined) await store.groupHistory.clear(getEditsKey(sessionKey), event.messageId);
  // Corrections of the message are separate items in the lane.
  const held =
    sessionKey === undefined ? [] : lanes.all(sessionKey).flatMap((item) => idsOfMessage(item, event));
  const ids = new Set([row.id, ...held]);
  // Recall the message from its run before changing the store, so that the run does not commit an answer to it.
  if (sessionKey !== undefined)
    for (const id of ids) lanes.recall(sessionKey, id, new MessagesDeletedError());
  await Promise.all([...ids].map((id) => withdraw(ctx, id, sessionKey)));
  await store.inbox.revise(original.id, withoutWords(original.payload));
  return "accepted";
}

/** Removes the content of a deleted message that no run has read. */
function withoutWords({ event: { references: _, ...event }, ...stored }: InboundRecord): InboundRecord {
  return { ...stored, event: { ...event, text: "", media: [], mentions: [] } };
}

async function withdraw(
  { store, lanes, tracer }: GatewayContext,
  id: InboxId,
  sessionKey: string | undefined,
): Promise<void> {
  const change = await store.inbox.withdraw(id, { rule: DELETED, reason: "deleted on the platform" });
  if (change.outcome !== "applied") return;
  const when = change.state === "running" ? "while it was being answered" : "before it was answered";
  tracer.note(id, "queue", `deleted on the platform ${when}`);
  if (sessionKey === undefined || lanes.recall(sessionKey, id, new MessagesDeletedError())) return;
  lanes.withdraw(sessionKey, id);
}
