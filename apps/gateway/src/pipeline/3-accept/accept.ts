import type { Capabilities, MessageEvent } from "@signalbox/channel";
import type { LiveHub } from "@signalbox/server";
import type { InboxAccept, InboxId, InboxRow, LeaseToken } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import { attachmentsSeen } from "../../api/attachments-seen.ts";
import { acceptOfBot, inboxKeys } from "../../api/bots.ts";
import type { GatewayHooks } from "../../hooks/hook-points.ts";
import type { GatewayBodies, GatewayStore } from "../../store.ts";
import type { Tracer } from "../../traces.ts";
import type { ReceivedMessage } from "../1-receive/receive.ts";
import { type Admit, type Admitted, isExclusive } from "../2-admit/admit.ts";

export interface AcceptPorts {
  readonly inbox: Pick<GatewayStore["inbox"], "acceptAhead" | "get">;
  readonly lease: LeaseToken;
  readonly hooks: Pick<GatewayHooks, "observe">;
  readonly live: Pick<LiveHub, "publish">;
  readonly tracer: Tracer;
  readonly logger: Logger;
  readonly now: () => number;
  /** Told of a message once it is committed, before anything is done about it. */
  readonly onAccepted: (id: InboxId, event: MessageEvent) => void;
}

/** A message that is committed. */
export interface Accepted extends Pick<Admitted, "stored" | "decision" | "exclusive"> {
  readonly id: InboxId;
  readonly seq: number;
  readonly route: Route;
}

/** Whose answer a message waits for. */
interface Route {
  readonly agentId: string;
  readonly sessionKey: string;
}

export type AcceptOutcome =
  | {
      readonly outcome: "accepted";
      readonly accepted: Accepted;
      /** Resolves when it is on the disk: from then on it is not lost. */
      readonly onDisk: Promise<void>;
    }
  /** It was accepted before; the id is absent if only its tombstone is left. */
  | { readonly outcome: "duplicate"; readonly id?: InboxId }
  /** Too many wait; its platform is refused, and delivers it again. */
  | { readonly outcome: "full" };

export type Accept = (received: ReceivedMessage, admitted: Admitted) => Promise<AcceptOutcome>;

/**
 * Takes responsibility for a message, exactly once. Its run may begin while the disk still writes: what others see of a
 * run is committed behind the message, and synced. Its platform is told once the message is on the disk.
 */
export function createAccept(ports: AcceptPorts): Accept {
  const { tracer, logger } = ports;
  // Told once, and again only after there was room: whoever is refused may come at any rate.
  let isFull = false;
  return async (received, admitted) => {
    const { stored, decision, exclusive, place } = admitted;
    const route: Route = { agentId: place.agentId, sessionKey: place.sessionKey };
    const { result: outcome, onDisk } = await acceptOfBot(
      ports.inbox,
      inboxEntry(ports, received, admitted, route),
    );
    if (outcome.outcome === "full") {
      const { unfinished, limit } = outcome;
      if (!isFull)
        logger.warn({ unfinished, limit }, "the inbox is full; new messages are refused until there is room");
      isFull = true;
      return { outcome: "full" };
    }
    if (outcome.outcome === "duplicate") {
      if (outcome.id !== undefined)
        tracer.note(outcome.id, "intake", "delivered again by the platform; nothing done");
      await onDisk;
      return outcome;
    }
    isFull = false;
    const { id, seq } = outcome;
    const accepted: Accepted = { id, seq, stored, decision, exclusive, route };
    trace(tracer, accepted, received, admitted);
    log(logger, accepted);
    tell(ports, accepted, received);
    return { outcome: "accepted", accepted, onDisk };
  };
}

function inboxEntry(
  { now, lease }: AcceptPorts,
  { event, as }: ReceivedMessage,
  { stored, decision }: Admitted,
  route: Route,
): InboxAccept<GatewayBodies> {
  return {
    ...inboxKeys(event),
    kind: as,
    // Only a message is the same under another event's id; what woke the agent by itself is none of the platform's.
    ...(as === "message" && event.messageId !== "" ? { messageId: event.messageId } : {}),
    receivedAt: now(),
    payload: stored,
    ...(decision.kind === "answer" ? { route } : {}),
    lease,
  };
}

/** Lets those know who watch the session, or hang on what comes in. */
function tell(
  { onAccepted, live, hooks }: AcceptPorts,
  { id, stored, decision, route }: Accepted,
  { capabilities }: ReceivedMessage,
): void {
  const { event } = stored;
  onAccepted(id, event);
  if (capabilities?.readsSession === true) {
    const { messageId, text, timestamp: at } = event;
    live.publish(route.sessionKey, {
      type: "message",
      message: { id: messageId, role: "user", text, at, ...attachmentsSeen(event) },
    });
  }
  const { kind, rule } = decision;
  hooks.observe("message_received", { ...route, messageId: id, event, decision: kind, rule });
}

/** So that whoever reads the log has the id that `why` wants. Groups talk much that is for nobody here. */
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
  tracer.note(id, "intake", `${channel}/${account} ${as} ${name} accepted`, {
    ...(name === eventId ? {} : { eventId }),
    seq,
  });
  const by = place.kind === "asked" ? "as asked" : `by ${place.matchedBy}`;
  const binding = place.kind === "routed" ? place.bindingIndex : undefined;
  tracer.note(
    id,
    "routing",
    `agent ${route.agentId} ${by}, session ${route.sessionKey}`,
    binding === undefined ? undefined : { binding },
  );
  tracer.note(id, "gate", `${decision.kind}: ${decision.rule}`);
}

export interface RecoverPorts {
  readonly inbox: Pick<GatewayStore["inbox"], "claimDue" | "get" | "route">;
  readonly lease: LeaseToken;
  readonly admit: Admit;
  readonly capabilities: (event: MessageEvent) => Capabilities | undefined;
}

/**
 * Gives what was accepted and nobody works on, since its process has ended: in the order in which it came. The store
 * gives each once, so what a failure kept from being taken is given at the next call.
 */
export function createRecovery(ports: RecoverPorts): () => AsyncGenerator<Accepted> {
  const { inbox, lease } = ports;
  const left: InboxId[] = [];
  return async function* () {
    const due = (await inbox.claimDue(lease)).map(({ id }) => id);
    const given = [...left.splice(0), ...due];
    try {
      for (let [id] = given; id !== undefined; [id] = given) {
        // Meanwhile it may have been edited, or deleted and so have its end.
        const row = await inbox.get(id);
        if (row !== undefined && row.settledAt === undefined) yield await acceptedBefore(ports, row);
        given.shift();
      }
    } finally {
      left.push(...given);
    }
  };
}

async function acceptedBefore(ports: RecoverPorts, row: InboxRow<GatewayBodies>): Promise<Accepted> {
  const { id, seq, payload: stored, route } = row;
  if (route === undefined) return decideAgain(ports, row);
  const { rule, role } = stored;
  const exclusive = isExclusive(stored, ports.capabilities(stored.event));
  return { id, seq, stored, route, exclusive, decision: { kind: "answer", rule, role } };
}

/** It was not decided yet, or was not to be answered; that may have changed. What is decided now counts. */
async function decideAgain(
  { inbox, admit }: RecoverPorts,
  { id, seq, payload }: InboxRow<GatewayBodies>,
): Promise<Accepted> {
  const { stored, place, decision, exclusive } = await admit(payload.event, payload.wake);
  const route: Route = { agentId: place.agentId, sessionKey: place.sessionKey };
  if (decision.kind === "answer") await inbox.route(id, route, stored);
  return { id, seq, stored, decision, exclusive, route };
}
