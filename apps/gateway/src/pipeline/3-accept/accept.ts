import type { InboxAccept, InboxId, InboxRow, LeaseToken } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { GatewayContext } from "../../context.ts";
import { acceptOfBot, inboxKeys } from "../../messages/bots.ts";
import { attachmentsSeen } from "../../messages/visible-attachments.ts";
import type { GatewayBodies } from "../../store.ts";
import type { Tracer } from "../../tracer.ts";
import type { ReceivedMessage } from "../1-receive/receive.ts";
import { type Admitted, admit, isExclusive } from "../2-admit/admit.ts";

/** A committed message. */
export interface Accepted extends Pick<Admitted, "stored" | "decision" | "exclusive"> {
  readonly id: InboxId;
  readonly seq: number;
  readonly route: Route;
}

/** Agent and session of a message. */
interface Route {
  readonly agentId: string;
  readonly sessionKey: string;
}

export type AcceptOutcome =
  | {
      readonly outcome: "accepted";
      readonly accepted: Accepted;
      /** True if the message is reserved for this node. Otherwise the node that runs its agent claims it. */
      readonly isOurs: boolean;
      /** Resolves when the message is on disk, after which it cannot be lost. */
      readonly onDisk: Promise<void>;
    }
  /** The message was already accepted. The id is absent if only its tombstone remains. */
  | { readonly outcome: "duplicate"; readonly id?: InboxId }
  /** Too many messages are waiting. The delivery is rejected, so that the platform delivers the message again. */
  | { readonly outcome: "full" };

/**
 * Accepts a message exactly once. Its run may start before the message is on disk, because every visible effect of the
 * run is committed and synced after the message. The platform receives its acknowledgment once the message is on disk.
 */
export async function accept(
  ctx: GatewayContext,
  received: ReceivedMessage,
  admitted: Admitted,
): Promise<AcceptOutcome> {
  const { tracer } = ctx;
  const { stored, decision, exclusive, place } = admitted;
  const route: Route = { agentId: place.agentId, sessionKey: place.sessionKey };
  const isOurs = decision.kind !== "answer" || ctx.seats.isHere(route.agentId, route.sessionKey);
  const lease = isOurs ? ctx.lease : undefined;
  const { result: outcome, onDisk } = await acceptOfBot(
    ctx.store.inbox,
    inboxEntry(ctx, received, admitted, { route, lease }),
  ).catch((error: unknown) => {
    ctx.storeHealth.failed(error);
    throw error;
  });
  onDisk.then(ctx.storeHealth.works, ctx.storeHealth.failed);
  ctx.inboxAlarm.report(outcome);
  if (outcome.outcome === "full") return { outcome: "full" };
  if (outcome.outcome === "duplicate") {
    if (outcome.id !== undefined)
      tracer.note(outcome.id, "accept", "a duplicate delivery of the platform, ignored");
    await onDisk;
    return outcome;
  }
  const { id, seq } = outcome;
  const accepted: Accepted = { id, seq, stored, decision, exclusive, route };
  trace(tracer, accepted, received, admitted);
  log(ctx.logger, accepted);
  report(ctx, accepted);
  const isHeld = isOurs && outcome.isUnclaimed !== true;
  // The node that claims a message publishes it to the viewers on all nodes.
  if (isHeld || ctx.liveRelay === undefined) publishMessage(ctx, accepted);
  return { outcome: "accepted", accepted, isOurs: isHeld, onDisk };
}

function inboxEntry(
  { now }: GatewayContext,
  { event, as }: ReceivedMessage,
  { stored, decision }: Admitted,
  { route, lease }: { readonly route: Route; readonly lease: LeaseToken | undefined },
): InboxAccept<GatewayBodies> {
  return {
    ...inboxKeys(event),
    kind: as,
    // Deduplicate by message id only for messages from a platform. Triggers have no message id.
    messageId: as === "message" && event.messageId !== "" ? event.messageId : undefined,
    receivedAt: now(),
    payload: stored,
    route: decision.kind === "answer" ? route : undefined,
    lease,
  };
}

/** Notifies waiting clients and hooks. */
function report({ outcomes, hooks }: GatewayContext, { id, stored, decision, route }: Accepted): void {
  const { event } = stored;
  outcomes.accepted(id, event);
  const { kind, rule } = decision;
  hooks.observe("message_received", { ...route, messageId: id, event, decision: kind, rule });
}

/** Shows a message to the viewers of its session, if its channel has viewers. */
export function publishMessage(
  { live, getCapabilities }: GatewayContext,
  { stored, route }: Pick<Accepted, "stored" | "route">,
): void {
  const { event } = stored;
  if (getCapabilities(event.channel, event.account)?.readsSession !== true) return;
  const { messageId, text, timestamp: at } = event;
  live.publish(route.sessionKey, {
    type: "message",
    message: { id: messageId, role: "user", text, at, ...attachmentsSeen(event) },
  });
}

/** Logs the id for `signalbox why`. Ignored messages are logged at debug level, because groups have many of them. */
function log(logger: Logger, { id, stored, decision, route }: Accepted): void {
  const { channel, account } = stored.event;
  const { kind, rule } = decision;
  const facts = { message: id, channel, account, rule };
  if (kind === "answer") logger.info({ ...facts, session: route.sessionKey }, "a message was accepted");
  else logger.debug(facts, "a message is not answered");
}

function trace(
  tracer: Tracer,
  { id, seq, route }: Accepted,
  { event, as }: ReceivedMessage,
  { place, decision }: Admitted,
): void {
  const { channel, account, eventId, messageId } = event;
  const name = as === "message" && messageId !== "" ? messageId : eventId;
  tracer.note(id, "accept", `${channel}/${account} ${as} ${name} accepted`, {
    eventId: name === eventId ? undefined : eventId,
    seq,
  });
  const by = place.kind === "asked" ? "as asked" : `by ${place.matchedBy}`;
  const binding = place.kind === "routed" ? place.bindingIndex : undefined;
  const answer = `${decision.kind}: ${decision.rule}`;
  tracer.note(
    id,
    "admit",
    `agent ${route.agentId} ${by}, session ${route.sessionKey}; ${answer}`,
    binding === undefined ? undefined : { binding },
  );
}

/**
 * Yields messages that an earlier process accepted but did not finish, in the order of arrival. The store returns each
 * message only once, so `ctx.claimed` keeps those that were not processed because of a failure for the next call.
 */
export async function* recoverAccepted(ctx: GatewayContext): AsyncGenerator<Accepted> {
  const { seats } = ctx;
  const { inbox } = ctx.store;
  const isHere = (route: Route | undefined): boolean =>
    route === undefined || seats.isHere(route.agentId, route.sessionKey);
  const due = (await inbox.claimDue(ctx.lease, isHere)).map(({ id }) => id);
  const left = [...ctx.claimed.splice(0), ...due];
  try {
    for (let [id] = left; id !== undefined; [id] = left) {
      // The message may have been edited or deleted in the meantime.
      const row = await inbox.get(id);
      if (row !== undefined && row.settledAt === undefined) yield await acceptedBefore(ctx, row);
      left.shift();
    }
  } finally {
    ctx.claimed.push(...left);
  }
}

async function acceptedBefore(ctx: GatewayContext, row: InboxRow<GatewayBodies>): Promise<Accepted> {
  const { id, seq, payload: stored, route } = row;
  if (route === undefined) return decideAgain(ctx, row);
  const { rule, role } = stored;
  const { channel, account } = stored.event;
  const exclusive = isExclusive(stored, ctx.getCapabilities(channel, account));
  return { id, seq, stored, route, exclusive, decision: { kind: "answer", rule, role } };
}

/**
 * Repeats the decision about a message that was undecided or was not supposed to be answered, because the rules may
 * have changed.
 */
async function decideAgain(
  ctx: GatewayContext,
  { id, seq, payload }: InboxRow<GatewayBodies>,
): Promise<Accepted> {
  const { stored, place, decision, exclusive } = await admit(ctx, payload.event, payload.trigger);
  const route: Route = { agentId: place.agentId, sessionKey: place.sessionKey };
  if (decision.kind === "answer") await ctx.store.inbox.route(id, route, stored);
  return { id, seq, stored, decision, exclusive, route };
}
