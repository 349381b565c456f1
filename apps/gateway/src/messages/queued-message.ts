import type { MessageEvent } from "@signalbox/channel";
import type { LaneItem } from "@signalbox/lanes";
import type { InboxId, InboxRow, InterruptedRun } from "@signalbox/store";
import type { Order } from "../command-syntax/read.ts";
import type { GatewayBodies, InboundRecord } from "../store.ts";
import { isOfAnotherBot } from "./bots.ts";

/** A message in a lane. */
export interface QueuedMessage extends LaneItem {
  readonly kind: "message";
  readonly id: InboxId;
  /** Position in the session. Increases in the order in which messages were accepted. */
  readonly seq: number;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly stored: InboundRecord;
  /** Command or directive in the message. */
  readonly order?: Order;
}

/** Converts an accepted message to a lane item. */
export function queuedMessage({
  id,
  seq,
  route,
  stored,
  exclusive,
}: Omit<QueuedMessage, "kind" | "sessionKey" | "agentId" | "order"> & {
  readonly route: Pick<QueuedMessage, "sessionKey" | "agentId">;
}): QueuedMessage {
  return { kind: "message", id, seq, ...route, stored, exclusive };
}

/** A run of an earlier process that will be resumed. */
export interface ResumedRun extends LaneItem {
  readonly kind: "resume";
  readonly id: InboxId;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly interrupted: InterruptedRun<GatewayBodies>;
  readonly covers: readonly InboxId[];
}

/** @throws StoreError if no message waits for the run */
export function resumedRun(interrupted: InterruptedRun<GatewayBodies>): ResumedRun | undefined {
  const [first] = interrupted.inbox;
  if (first === undefined) return undefined;
  const { sessionKey, agentId } = interrupted.run;
  const covers = interrupted.inbox.flatMap((row) => (isMessagesDeleted(row) ? [] : [row.id]));
  return { kind: "resume", id: first.id, sessionKey, agentId, interrupted, exclusive: true, covers };
}

/** Returns true if a message was deleted on its platform during its run. */
export function isMessagesDeleted({ state, detail }: InboxRow<GatewayBodies>): boolean {
  return state === "running" && detail !== undefined;
}

/** Rule for messages that were deleted on their platform. */
export const DELETED = "deleted";

/** Reason of an abort: all messages of the run were deleted. */
export class MessagesDeletedError extends Error {
  override readonly name = "MessagesDeletedError";
}

type EventOfMessage = Pick<MessageEvent, "channel" | "account" | "messageId" | "botId">;

/** Returns the inbox ids of an item that contains a platform's message or a correction to it. */
export function idsOfMessage(item: Queued, of: EventOfMessage): InboxId[] {
  const held =
    item.kind === "message"
      ? [item]
      : item.interrupted.inbox.map(({ id, payload: stored }) => ({ id, stored }));
  return held.flatMap(({ id, stored }) => (isSameMessage(stored, of) ? [id] : []));
}

function isSameMessage(stored: InboundRecord, of: EventOfMessage): boolean {
  const { messageId, channel, account } = stored.event;
  const isNamedSo = messageId === of.messageId && channel === of.channel && account === of.account;
  return isNamedSo && !isOfAnotherBot(stored, of);
}

/** Returns the sender whose share of the concurrency limit an item counts against, even in a group. */
export function ownerOf(item: Queued): string {
  const event = getLatestEvent(item);
  return event === undefined ? item.sessionKey : getSenderKey(event);
}

/**
 * Returns true for items that may take the reserved run slots: items from owners, and items from the gateway on their
 * behalf.
 */
export function isOwnersItem(item: Queued): boolean {
  const stored = item.kind === "message" ? item.stored : item.interrupted.inbox[0]?.payload;
  return stored?.role === "owner" || stored?.role === "system";
}

function getSenderKey({ channel, account, sender }: MessageEvent): string {
  return `${channel}/${account}/${sender.id}`;
}

/**
 * Returns true if a stop command ends a waiting item. It does not end later items or items from other group members.
 */
export function isStoppedBy(item: Queued, stop: Pick<QueuedMessage, "seq" | "stored">): boolean {
  const { event, role } = stop.stored;
  return (
    item.kind === "message" &&
    item.seq < stop.seq &&
    (role === "owner" || ownerOf(item) === getSenderKey(event))
  );
}

/** An item of a lane. */
export type Queued = QueuedMessage | ResumedRun;

export function messagesIn(items: readonly Queued[]): QueuedMessage[] {
  return items.filter((item) => item.kind === "message");
}

/**
 * Returns true if answers to a message appear in the conversation. A sub-agent's answers go to the session that started
 * it.
 */
export function isVisible({ stored }: QueuedMessage): boolean {
  return stored.trigger?.subAgent === undefined;
}

/** Returns a message's text without its leading directives. */
export function getPlainText({ order, stored }: QueuedMessage): string {
  return order?.kind === "turn" ? order.text : stored.event.text;
}

/**
 * Returns true if one run may answer both messages. The reply must reach both senders, because linked people and shared
 * sessions write from several conversations. In a group, each person gets a separate answer, as a reply to their own
 * message. A guest does not join a run that contains text that guests may not see.
 */
export function mayShareRun(a: Queued, b: Queued): boolean {
  const event = getLatestEvent(a);
  const other = getLatestEvent(b);
  const samePlace =
    event?.channel === other?.channel &&
    event?.account === other?.account &&
    event?.address === other?.address;
  const isPrivate = event?.conversation.kind === "direct";
  const sameAsker = isPrivate || event?.sender.id === other?.sender.id;
  return samePlace && sameAsker && isGuests(a) === isGuests(b);
}

/** Returns all events of a queued item. */
export function getEvents(item: Queued): readonly MessageEvent[] {
  return item.kind === "message"
    ? [item.stored.event]
    : item.interrupted.inbox.map(({ payload }) => payload.event);
}

function isGuests(item: Queued): boolean {
  return item.kind === "message"
    ? item.stored.role === "guest"
    : item.interrupted.inbox.some(({ payload }) => payload.role === "guest");
}

function getLatestEvent(item: Queued): MessageEvent | undefined {
  return getEvents(item).at(-1);
}
