import type { DeletedEvent, MessageEvent } from "@signalbox/channel";
import type { LaneItem } from "@signalbox/lanes";
import type { InboxId, InboxRow, InterruptedRun } from "@signalbox/store";
import type { Order } from "../command-syntax/read.ts";
import type { GatewayBodies, InboundRecord } from "../store.ts";
import { isOfAnotherBot } from "./bots.ts";

/** A message on its way to a run. */
export interface QueuedMessage extends LaneItem {
  readonly kind: "message";
  readonly id: InboxId;
  /** Rises within its session in the order in which messages were accepted. */
  readonly seq: number;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly stored: InboundRecord;
  /** A command or directive in the message. */
  readonly order?: Order;
}

/** Returns an accepted message in the form in which its lane holds it. */
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

/** A run that an earlier process began and that is to go on. */
export interface ResumedRun extends LaneItem {
  readonly kind: "resume";
  readonly id: InboxId;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly interrupted: InterruptedRun<GatewayBodies>;
  readonly covers: readonly InboxId[];
}

/** @returns undefined if no message waits for the run */
export function resumedRun(interrupted: InterruptedRun<GatewayBodies>): ResumedRun | undefined {
  const [first] = interrupted.inbox;
  if (first === undefined) return undefined;
  const { sessionKey, agentId } = interrupted.run;
  const covers = interrupted.inbox.flatMap((row) => (isTakenBack(row) ? [] : [row.id]));
  return { kind: "resume", id: first.id, sessionKey, agentId, interrupted, exclusive: true, covers };
}

/** Whether a message was deleted on its platform during its run. */
export function isTakenBack({ state, detail }: InboxRow<GatewayBodies>): boolean {
  return state === "running" && detail !== undefined;
}

/** The rule that a message ends with which was deleted on its platform. */
export const DELETED = "deleted";

/** Why a run ends that is left without a message to answer. */
export class TakenBack extends Error {
  override readonly name = "TakenBack";
}

/** The ids in the inbox under which an item holds a platform's message, and corrections of it. */
export function idsOfMessage(item: Queued, of: DeletedEvent): InboxId[] {
  const held =
    item.kind === "message"
      ? [item]
      : item.interrupted.inbox.map(({ id, payload: stored }) => ({ id, stored }));
  return held.flatMap(({ id, stored }) => (isSameMessage(stored, of) ? [id] : []));
}

function isSameMessage(stored: InboundRecord, of: DeletedEvent): boolean {
  const { messageId, channel, account } = stored.event;
  const isNamedSo = messageId === of.messageId && channel === of.channel && account === of.account;
  return isNamedSo && !isOfAnotherBot(stored, of);
}

/** Whose share of the concurrency limit an item counts against: its sender's, even in a group. */
export function ownerOf(item: Queued): string {
  const event = eventOf(item);
  return event === undefined ? item.sessionKey : senderOf(event);
}

function senderOf({ channel, account, sender }: MessageEvent): string {
  return `${channel}/${account}/${sender.id}`;
}

/** Whether a stop command ends a waiting item. It does not end later items or other group members' items. */
export function isMeantByStop(item: Queued, stop: Pick<QueuedMessage, "seq" | "stored">): boolean {
  const { event, role } = stop.stored;
  return (
    item.kind === "message" && item.seq < stop.seq && (role === "owner" || ownerOf(item) === senderOf(event))
  );
}

/** An item of a lane. */
export type Queued = QueuedMessage | ResumedRun;

export function messagesIn(items: readonly Queued[]): QueuedMessage[] {
  return items.filter((item) => item.kind === "message");
}

/** Whether answers to a message appear in the conversation. A sub-agent's answers go to the session that started it. */
export function isHeard({ stored }: Pick<QueuedMessage, "stored">): boolean {
  return stored.trigger?.subAgent === undefined;
}

/** A message's text without its leading directives. */
export function spokenText({ order, stored }: QueuedMessage): string {
  return order?.kind === "turn" ? order.text : stored.event.text;
}

/**
 * Whether one run may answer both messages. The reply must reach both senders, because linked people and shared
 * sessions write from several places. A guest does not join a run that contains what guests may not see.
 */
export function mayShareRun(a: Queued, b: Queued): boolean {
  const event = eventOf(a);
  const other = eventOf(b);
  const samePlace =
    event?.channel === other?.channel &&
    event?.account === other?.account &&
    event?.address === other?.address;
  return samePlace && isGuests(a) === isGuests(b);
}

/** All events of a queued item. */
export function eventsOf(item: Queued): readonly MessageEvent[] {
  return item.kind === "message"
    ? [item.stored.event]
    : item.interrupted.inbox.map(({ payload }) => payload.event);
}

function isGuests(item: Queued): boolean {
  return item.kind === "message"
    ? item.stored.role === "guest"
    : item.interrupted.inbox.some(({ payload }) => payload.role === "guest");
}

function eventOf(item: Queued): MessageEvent | undefined {
  return eventsOf(item).at(-1);
}
