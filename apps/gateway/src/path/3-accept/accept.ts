import type {
  Capabilities,
  ChannelDefinition,
  EmitResult,
  InboundEvent,
  MessageEvent,
} from "@signalbox/channel";
import {
  type Binding,
  type BindingMatch,
  formatSessionKey,
  type Route,
  type Router,
} from "@signalbox/routing";
import type { LiveHub } from "@signalbox/server";
import type { InboxId, InboxRow } from "@signalbox/store";
import type { Commands } from "../../commands/commands.ts";
import type { GatewayHooks } from "../../hooks/points.ts";
import type { GatewayBodies, StoredInbound } from "../../store.ts";
import type { Tracer } from "../../trace/tracer.ts";
import { normaliseEvent, normaliseTurn } from "../1-receive/normalise.ts";
import { asMessage } from "../1-receive/orders.ts";
import type { Gate, GateDecision, GateInput } from "../2-admit/gate.ts";
import { routeInput } from "../2-admit/route.ts";
import { createEdits, type EditsOptions } from "../4-queue/edits.ts";
import { type AsideOptions, createAside } from "./unanswered.ts";

export interface IntakeOptions extends AsideOptions {
  readonly router: Router;
  /** What the router was made from. */
  readonly bindings: readonly Binding[];
  readonly gate: Gate;
  readonly lanes: EditsOptions["lanes"];
  /** Takes accepted messages on, each to its lane or to its answer. */
  readonly commands: Pick<Commands, "enter" | "waits">;
  readonly hooks: GatewayHooks;
  readonly tracer: Tracer;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly live: Pick<LiveHub, "publish">;
  /** Told of a message once it is committed, before anything is done about it. */
  readonly onAccepted: (id: InboxId, event: MessageEvent) => void;
}

/** Where a message goes: as the bindings have it, or as its sender asked. */
type Place =
  | ({ readonly kind: "routed" } & Route)
  | { readonly kind: "asked"; readonly agentId: string; readonly sessionKey: string };

/** Takes responsibility for what comes in: dedupe, route, gate, commit, then the lane. */
export interface Intake {
  /** Resolves after the commit; the channel acknowledges its platform only then. */
  emit(event: InboundEvent): Promise<EmitResult>;
  /** Goes on with what an earlier process accepted and did not finish. */
  recover(): Promise<number>;
  /** From now on nothing is taken. */
  close(): void;
}

export function createIntake(options: IntakeOptions): Intake {
  const { store, router, bindings, gate, commands, hooks, tracer, logger } = options;
  const aside = createAside(options);
  const edits = createEdits(options);
  let closed = false;

  const capabilitiesOf = ({ channel, account }: MessageEvent): Capabilities | undefined =>
    options.definition(channel, account)?.capabilities;
  const placeOf = (event: MessageEvent): Place =>
    askedPlace(event) ?? { kind: "routed", ...router.resolve(routeInput(event)) };
  const isExclusive = (event: MessageEvent): boolean => capabilitiesOf(event)?.awaitsSingleAnswer === true;

  const decide = async (event: MessageEvent, place: Place): Promise<GateDecision> => {
    const named = place.kind === "routed" && isNamed(bindings[place.bindingIndex ?? -1]?.match, place);
    const input = gateInput(event, named, capabilitiesOf(event)?.authenticatedByGateway === true);
    const approved =
      gate.needsApproval(input) &&
      (await store.pairing.isApproved(event.channel, event.account, event.sender.id));
    return gate.decide(input, approved);
  };

  const message = async (given: MessageEvent, kind: InboundEvent["type"]): Promise<EmitResult> => {
    const event = withTurn(normaliseEvent(given), capabilitiesOf(given));
    const place = placeOf(event);
    const route = { agentId: place.agentId, sessionKey: place.sessionKey };
    const decision = await decide(event, place);
    const stored: StoredInbound = {
      event,
      rule: decision.rule,
      role: decision.kind === "answer" ? decision.role : "guest",
    };
    const answers = decision.kind === "answer" ? { route } : {};
    const accepted = await store.inbox.accept({
      channel: event.channel,
      account: event.account,
      eventId: eventKey(event),
      // Only a message is the same under another event's id.
      ...(kind === "message" ? { messageId: event.messageId } : {}),
      kind,
      conversationId: event.conversation.id,
      senderId: event.sender.id,
      payload: stored,
      ...answers,
    });
    if (accepted.outcome === "full") {
      logger.warn(
        { unfinished: accepted.unfinished, limit: accepted.limit },
        "the inbox is full; a platform was refused",
      );
      return "rejected";
    }
    if (accepted.outcome === "duplicate") {
      if (accepted.id !== undefined)
        tracer.note(accepted.id, "intake", "delivered again by the platform; nothing done");
      return "duplicate";
    }
    options.onAccepted(accepted.id, event);
    if (capabilitiesOf(event)?.readsSession === true) {
      const { messageId, text, timestamp } = event;
      const shown = { id: messageId, role: "user", text, at: timestamp } as const;
      options.live.publish(route.sessionKey, { type: "message", message: shown });
    }
    tracer.note(
      accepted.id,
      "intake",
      `${event.channel}/${event.account} ${kind} ${kind === "message" ? event.messageId : event.eventId} accepted`,
      {
        eventId: event.eventId,
        seq: accepted.seq,
      },
    );
    tracer.note(
      accepted.id,
      "routing",
      `agent ${route.agentId} ${place.kind === "asked" ? "as asked" : `by ${place.matchedBy}`}, session ${route.sessionKey}`,
      place.kind === "routed" && place.bindingIndex !== undefined
        ? { binding: place.bindingIndex }
        : undefined,
    );
    tracer.note(accepted.id, "gate", `${decision.kind}: ${decision.rule}`);
    const { rule } = decision;
    hooks.observe("message_received", {
      ...route,
      messageId: accepted.id,
      event,
      decision: decision.kind,
      rule,
    });
    if (decision.kind === "answer") {
      commands.enter({
        kind: "message",
        id: accepted.id,
        ...route,
        stored,
        exclusive: isExclusive(event),
        recovered: false,
      });
    } else {
      // The platform need not wait for this: after a crash it is decided again.
      void aside.end(accepted.id, stored, decision.kind, decision.rule);
    }
    return "accepted";
  };

  const again = async (row: InboxRow<GatewayBodies>): Promise<void> => {
    const { event } = row.payload;
    const place = placeOf(event);
    const decision = await decide(event, place);
    if (decision.kind !== "answer") {
      // A failing store holds up no start.
      void aside.end(row.id, row.payload, decision.kind, decision.rule);
      return;
    }
    const route = { agentId: place.agentId, sessionKey: place.sessionKey };
    await store.inbox.route(row.id, route);
    const stored = { ...row.payload, role: decision.role, rule: decision.rule };
    const exclusive = isExclusive(event);
    commands.enter({ kind: "message", id: row.id, ...route, stored, exclusive, recovered: true });
  };

  return {
    async emit(event) {
      if (closed) return "rejected";
      switch (event.type) {
        case "message":
          return message(event, event.type);
        case "command":
        case "action": {
          const said = asMessage(event);
          if (said !== undefined) return message(said, event.type);
          logger.debug({ channel: event.channel, type: event.type }, "a click on nothing that is known");
          return "accepted";
        }
        case "edited":
          return edits.edited(normaliseEvent(event));
        case "deleted":
          return edits.deleted(event);
        case "reaction":
        case "member":
        case "lifecycle":
          // Nothing here answers these; acknowledging them is all there is to do.
          logger.debug({ channel: event.channel, type: event.type }, "event without a reader");
          return "accepted";
      }
    },
    async recover() {
      let found = 0;
      for (const row of await store.inbox.unrouted()) {
        found++;
        await again(row);
      }
      for (const { sessionKey } of await store.inbox.pendingSessions()) {
        for (const row of await store.inbox.queued(sessionKey)) {
          if (!row.route) continue;
          found++;
          const exclusive = isExclusive(row.payload.event);
          commands.enter({
            kind: "message",
            id: row.id,
            ...row.route,
            stored: row.payload,
            exclusive,
            recovered: true,
          });
        }
      }
      return found;
    },
    close() {
      closed = true;
    },
  };
}

/** Whether a route comes from a binding that names the person or the group itself, not every one of its kind. */
function isNamed(match: BindingMatch | undefined, { matchedBy }: Route): boolean {
  return matchedBy === "binding.peer" && match?.peer !== undefined && !match.peer.id.includes("*");
}

/** What a client wants of the turn, from channels on which only the gateway's own clients are. */
function withTurn(event: MessageEvent, capabilities: Capabilities | undefined): MessageEvent {
  const { turn, ...plain } = event;
  if (turn === undefined || capabilities?.authenticatedByGateway !== true) return plain;
  return { ...plain, turn: normaliseTurn(turn) };
}

/** A conversation with an agent that its client named has a session of its own. */
function askedPlace({ turn, channel, conversation }: MessageEvent): Place | undefined {
  const agentId = turn?.agent;
  if (agentId === undefined) return undefined;
  const sessionKey = formatSessionKey({ kind: "direct", agentId, channel, peerId: conversation.id });
  return { kind: "asked", agentId, sessionKey };
}

function gateInput(event: MessageEvent, bound: boolean, authenticated: boolean): GateInput {
  return {
    bound,
    authenticated,
    forwardedFrom: event.forwarded && (event.forwarded.from ?? "forwarded"),
    channel: event.channel,
    account: event.account,
    conversationKind: event.conversation.kind,
    conversationId: event.conversation.id,
    senderId: event.sender.id,
    senderIsBot: event.sender.isBot,
    senderIsSelf: event.sender.isSelf,
    addressed: event.addressed,
  };
}

/** What tells a repetition: platforms give ids that are unique for one bot, and an account may get another one. */
function eventKey({ botId, eventId }: Pick<InboundEvent, "botId" | "eventId">): string {
  return botId === undefined ? eventId : `${botId}/${eventId}`;
}
