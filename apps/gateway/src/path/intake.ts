import { randomInt } from "node:crypto";
import type { DeletedEvent, EditedEvent, EmitResult, InboundEvent, MessageEvent } from "@signalbox/channel";
import type { Router } from "@signalbox/routing";
import type { InboxId, InboxRow, LeaseToken } from "@signalbox/store";
import type { Commands } from "../commands/commands.ts";
import { messageOf } from "../errors.ts";
import type { Hooks } from "../hooks.ts";
import type { Logger } from "../log.ts";
import type { Gate, GateDecision, GateInput } from "./gate.ts";
import type { Lanes } from "./lane.ts";
import { outboxRow } from "./outbox.ts";
import { routeInput } from "./route.ts";
import { type GatewayBodies, type GatewayStore, isPassing, type StoredInbound } from "./stored.ts";
import type { MessageTicket, Ticket } from "./ticket.ts";
import type { Tracer } from "./trace.ts";

export interface IntakeOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly router: Router;
  readonly gate: Gate;
  readonly lanes: Pick<Lanes<Ticket>, "replace" | "withdraw">;
  /** Takes accepted messages on, each to its lane or to its answer. */
  readonly commands: Pick<Commands, "enter" | "waits">;
  readonly hooks: Hooks;
  readonly tracer: Tracer;
  readonly logger: Logger;
  readonly now: () => number;
  /** Messages of a group to remember for when the agent is addressed. */
  readonly historyLimit: number;
  /** Looks at the outbox after a row was added. */
  readonly wakeOutbox: () => void;
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
}

const PAIRING_TTL_MS = 10 * 60_000;
/** How long a failing store is left alone, in milliseconds. */
const AGAIN_MS = 2_000;
/** Without the characters people confuse. */
const CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export function createIntake(options: IntakeOptions): Intake {
  const { store, router, gate, lanes, commands, hooks, tracer, logger } = options;
  let closed = false;

  const decide = async (event: MessageEvent): Promise<GateDecision> => {
    const input = gateInput(event);
    const approved =
      gate.needsApproval(input) &&
      (await store.pairing.isApproved(event.channel, event.account, event.sender.id));
    return gate.decide(input, approved);
  };

  const message = async (event: MessageEvent): Promise<EmitResult> => {
    const route = router.resolve(routeInput(event));
    const decision = await decide(event);
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
      eventId: event.eventId,
      messageId: event.messageId,
      kind: event.type,
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
      `${event.channel}/${event.account} message ${event.messageId} accepted`,
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
    const { kind, rule } = decision;
    hooks.observe("message_received", {
      agentId,
      sessionKey,
      messageId: accepted.id,
      event,
      decision: kind,
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
      void setAside(accepted.id, stored, decision.kind, decision.rule);
    }
    return "accepted";
  };

  /** Ends a message that no run answers, after doing what its rule asks for. */
  const setAside = async (
    id: InboxId,
    stored: StoredInbound,
    kind: "pair" | "keep" | "ignore",
    rule: string,
  ): Promise<void> => {
    const { event } = stored;
    try {
      if (kind === "keep") await keep(event);
      if (kind === "pair") await offerPairing(event);
      await store.inbox.settle(id, "ignored", { rule });
    } catch (error) {
      logger.error({ message: id, rule, err: messageOf(error) }, "a message could not be set aside");
      if (closed || !isPassing(error)) return;
      setTimeout(() => void setAside(id, stored, kind, rule), AGAIN_MS).unref();
    }
  };

  const keep = (event: MessageEvent): Promise<void> =>
    store.groupHistory.push(
      historyKey(event),
      {
        id: event.messageId,
        senderId: event.sender.id,
        body: { text: event.text, ...(event.sender.name === undefined ? {} : { name: event.sender.name }) },
        at: event.timestamp,
      },
      options.historyLimit,
    );

  const offerPairing = async (event: MessageEvent): Promise<void> => {
    const code = Array.from({ length: 8 }, () => CODE_ALPHABET.charAt(randomInt(CODE_ALPHABET.length))).join(
      "",
    );
    const { channel, account } = event;
    const label = event.sender.name;
    const outcome = await store.pairing.request({
      channel,
      account,
      peerId: event.sender.id,
      code,
      ...(label === undefined ? {} : { label }),
    });
    if (outcome !== "created") return;
    const text = `Pairing code: ${code}. The owner of this assistant can let you in with it, within ten minutes.`;
    const payload = { parts: [{ type: "text" as const, text }], replyTo: event.messageId };
    const expiresAt = options.now() + PAIRING_TTL_MS;
    await store.outbox.enqueue([outboxRow(event, payload, { expiresAt, claim: false })], {
      lease: options.lease,
    });
    options.wakeOutbox();
  };

  const edited = async (event: EditedEvent): Promise<EmitResult> => {
    const asMessage: MessageEvent = { ...event, type: "message" };
    const before = await store.inbox.find(event);
    if (before?.kind !== "message") return "accepted";
    const stored: StoredInbound = { ...before.payload, event: asMessage };
    const change = await store.inbox.revise(event, stored);
    if (change.outcome === "applied") {
      tracer.note(change.id, "intake", "edited on the platform before it was answered");
      if (before.route) {
        const ticket: MessageTicket = {
          kind: "message",
          id: before.id,
          ...before.route,
          stored,
          exclusive: false,
          recovered: false,
        };
        const later = commands.waits(ticket);
        if (later !== false) lanes.replace(later);
        else if (lanes.withdraw(before.route.sessionKey, before.id)) commands.enter(ticket);
      }
    }
    return "accepted";
  };

  const deleted = async (event: DeletedEvent): Promise<EmitResult> => {
    await store.groupHistory.clear(historyKey(event), event.messageId);
    const change = await store.inbox.withdraw(event, { rule: "deleted", reason: "deleted on the platform" });
    if (change.outcome === "applied") {
      tracer.note(change.id, "intake", "deleted on the platform before it was answered");
      const row = await store.inbox.get(change.id);
      if (row?.route) lanes.withdraw(row.route.sessionKey, change.id);
    }
    return "accepted";
  };

  const again = async (row: InboxRow<GatewayBodies>): Promise<void> => {
    const { event } = row.payload;
    const route = router.resolve(routeInput(event));
    const decision = await decide(event);
    if (decision.kind !== "answer") return setAside(row.id, row.payload, decision.kind, decision.rule);
    await store.inbox.route(row.id, { agentId: route.agentId, sessionKey: route.sessionKey });
    const stored = { ...row.payload, role: decision.role, rule: decision.rule };
    commands.enter({ kind: "message", id: row.id, ...route, stored, exclusive: false, recovered: true });
  };

  return {
    async emit(event) {
      if (closed) return "rejected";
      switch (event.type) {
        case "message":
          return message(event);
        case "edited":
          return edited(event);
        case "deleted":
          return deleted(event);
        case "reaction":
        case "action":
        case "command":
        case "member":
        case "lifecycle":
          // Nothing here answers these; acknowledging them is all there is to do.
          logger.debug({ channel: event.channel, type: event.type }, "event without a reader");
          return "accepted";
      }
    },
    async take(stored, route) {
      if (closed) return { kind: "full" };
      const { event } = stored;
      const accepted = await store.inbox.accept({
        channel: event.channel,
        account: event.account,
        eventId: event.eventId,
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
    },
  };
}

/** Names the ring of remembered messages of a group. */
export function historyKey(event: Pick<MessageEvent, "channel" | "account" | "conversation">): string {
  const { id, threadId } = event.conversation;
  return JSON.stringify([event.channel, event.account, id, ...(threadId === undefined ? [] : [threadId])]);
}

function gateInput(event: MessageEvent): GateInput {
  return {
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
