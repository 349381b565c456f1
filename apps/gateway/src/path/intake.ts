import type { EmitResult, InboundEvent, MessageEvent } from "@signalbox/channel";
import type { Binding, BindingMatch, Route, Router } from "@signalbox/routing";
import type { InboxId, InboxRow } from "@signalbox/store";
import type { Commands } from "../commands/commands.ts";
import type { Hooks } from "../hooks.ts";
import { type AsideOptions, createAside } from "./aside.ts";
import { createEdits, type EditsOptions } from "./edits.ts";
import type { Gate, GateDecision, GateInput } from "./gate.ts";
import { asMessage } from "./native.ts";
import { normaliseEvent, normaliseStored } from "./normalise.ts";
import { routeInput } from "./route.ts";
import type { GatewayBodies, StoredInbound } from "./stored.ts";
import type { Tracer } from "./trace.ts";

export interface IntakeOptions extends AsideOptions {
  readonly router: Router;
  /** What the router was made from. */
  readonly bindings: readonly Binding[];
  readonly gate: Gate;
  readonly lanes: EditsOptions["lanes"];
  /** Takes accepted messages on, each to its lane or to its answer. */
  readonly commands: Pick<Commands, "enter" | "waits">;
  readonly hooks: Hooks;
  readonly tracer: Tracer;
}

/** What became of a message a client of the gateway itself sent. */
type Taken =
  | { readonly kind: "accepted"; readonly id: InboxId }
  | { readonly kind: "duplicate"; readonly id: InboxId | undefined }
  | { readonly kind: "full" };

/** Takes responsibility for what comes in: dedupe, route, gate, commit, then the lane. */
export interface Intake {
  /** Resolves after the commit; the channel acknowledges its platform only then. */
  emit(event: InboundEvent): Promise<EmitResult>;
  /** A message with its place already known: from the gateway's own clients. */
  take(stored: StoredInbound, route: { agentId: string; sessionKey: string }): Promise<Taken>;
  /** Goes on with what an earlier process accepted and did not finish. */
  recover(): Promise<number>;
  /** From now on nothing is taken. */
  close(): void;
  /** Resolves when no message is being set aside. */
  idle(): Promise<void>;
}

export function createIntake(options: IntakeOptions): Intake {
  const { store, router, bindings, gate, commands, hooks, tracer, logger } = options;
  const aside = createAside(options);
  const edits = createEdits(options);
  let closed = false;

  const decide = async (event: MessageEvent, route: Route): Promise<GateDecision> => {
    const input = gateInput(event, isNamed(bindings[route.bindingIndex ?? -1]?.match, route));
    const approved =
      gate.needsApproval(input) &&
      (await store.pairing.isApproved(event.channel, event.account, event.sender.id));
    return gate.decide(input, approved);
  };

  const message = async (event: MessageEvent, kind: InboundEvent["type"]): Promise<EmitResult> => {
    const route = router.resolve(routeInput(event));
    const decision = await decide(event, route);
    const stored: StoredInbound = {
      event,
      rule: decision.rule,
      role: decision.kind === "answer" ? decision.role : "guest",
    };
    const answers =
      decision.kind === "answer" ? { route: { agentId: route.agentId, sessionKey: route.sessionKey } } : {};
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
      `agent ${route.agentId} by ${route.matchedBy}, session ${route.sessionKey}`,
      route.bindingIndex === undefined ? undefined : { binding: route.bindingIndex },
    );
    tracer.note(accepted.id, "gate", `${decision.kind}: ${decision.rule}`);
    const { agentId, sessionKey } = route;
    const { rule } = decision;
    hooks.observe("message_received", {
      agentId,
      sessionKey,
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
        exclusive: false,
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
    const route = router.resolve(routeInput(event));
    const decision = await decide(event, route);
    if (decision.kind !== "answer") return aside.end(row.id, row.payload, decision.kind, decision.rule);
    await store.inbox.route(row.id, { agentId: route.agentId, sessionKey: route.sessionKey });
    const stored = { ...row.payload, role: decision.role, rule: decision.rule };
    commands.enter({ kind: "message", id: row.id, ...route, stored, exclusive: false, recovered: true });
  };

  return {
    async emit(event) {
      if (closed) return "rejected";
      switch (event.type) {
        case "message":
          return message(normaliseEvent(event), event.type);
        case "command":
        case "action": {
          const said = asMessage(event);
          if (said !== undefined) return message(normaliseEvent(said), event.type);
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
    async take(given, route) {
      if (closed) return { kind: "full" };
      const stored = normaliseStored(given);
      const { event } = stored;
      const accepted = await store.inbox.accept({
        channel: event.channel,
        account: event.account,
        eventId: eventKey(event),
        messageId: event.messageId,
        kind: event.type,
        conversationId: event.conversation.id,
        senderId: event.sender.id,
        payload: stored,
        route: { agentId: route.agentId, sessionKey: route.sessionKey },
      });
      if (accepted.outcome === "full") return { kind: "full" };
      if (accepted.outcome === "duplicate") return { kind: "duplicate", id: accepted.id };
      tracer.note(accepted.id, "intake", `${event.channel} message ${event.messageId} accepted`, {
        seq: accepted.seq,
      });
      tracer.note(accepted.id, "routing", `agent ${route.agentId} as asked, session ${route.sessionKey}`);
      tracer.note(accepted.id, "gate", `answer: ${stored.rule}`);
      hooks.observe("message_received", {
        ...route,
        messageId: accepted.id,
        event,
        decision: "answer",
        rule: stored.rule,
      });
      commands.enter({
        kind: "message",
        id: accepted.id,
        ...route,
        stored,
        exclusive: stored.exclusive === true,
        recovered: false,
      });
      return { kind: "accepted", id: accepted.id };
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
          const exclusive = row.payload.exclusive === true;
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
      aside.close();
    },
    idle: aside.idle,
  };
}

/** Whether a route comes from a binding that names the person or the group itself, not every one of its kind. */
function isNamed(match: BindingMatch | undefined, { matchedBy }: Route): boolean {
  return matchedBy === "binding.peer" && match?.peer !== undefined && !match.peer.id.includes("*");
}

function gateInput(event: MessageEvent, bound: boolean): GateInput {
  return {
    bound,
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
