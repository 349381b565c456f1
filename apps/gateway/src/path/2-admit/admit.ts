import type { Capabilities, ChannelDefinition, MessageEvent } from "@signalbox/channel";
import {
  type Binding,
  type BindingMatch,
  type BotLoops,
  formatSessionKey,
  type Gate,
  type GateDecision,
  type GateInput,
  type Route,
  type Router,
} from "@signalbox/routing";
import { routeInput } from "@signalbox/setup";
import { weakerRole } from "@signalbox/tools";
import type { WakeTerms } from "@signalbox/wakes";
import type { GatewayStore, InboundRecord } from "../../store.ts";

export interface AdmitPorts {
  readonly router: Pick<Router, "resolve">;
  /** Those by which the router decides. */
  readonly bindings: () => readonly Binding[];
  readonly gate: Gate;
  readonly botLoops: BotLoops;
  readonly pairing: Pick<GatewayStore["pairing"], "isApproved">;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
}

/** A message with its place, and what is to be done about it. */
export interface Admitted {
  /** As the inbox keeps it. */
  readonly stored: InboundRecord;
  readonly place: Place;
  /** `answer` goes on to the agent; the others end with their rule. */
  readonly decision: GateDecision;
  /** It has a run of its own. */
  readonly exclusive: boolean;
}

/** Where a message goes: as the bindings have it, or as its sender asked. */
type Place =
  | ({ readonly kind: "routed" } & Route)
  | { readonly kind: "asked"; readonly agentId: string; readonly sessionKey: string };

/** `wake`: nobody has written it, and these are the terms on which the gateway says it for somebody. */
export type Admit = (event: MessageEvent, wake?: WakeTerms) => Promise<Admitted>;

/** Decides which agent a message is for, and whether its sender may talk to it. Nothing is written. */
export function createAdmit({ router, bindings, gate, botLoops, pairing, definition }: AdmitPorts): Admit {
  const decide = async (
    event: MessageEvent,
    place: Place,
    capabilities: Capabilities | undefined,
  ): Promise<GateDecision> => {
    const bound = place.kind === "routed" && isNamed(bindings()[place.bindingIndex ?? -1]?.match, place);
    const authenticated = capabilities?.authenticatedByGateway === true;
    const tokenRole = authenticated ? (event.sender.authenticatedAs ?? "owner") : undefined;
    const input = gateInput(event, bound, tokenRole);
    const approved =
      gate.needsApproval(input) && (await pairing.isApproved(event.channel, event.account, event.sender.id));
    const decision = gate.decide(input, approved);
    const loops = decision.rule === "group_bot" && !botLoops.admits(placeOf(event));
    return loops ? { kind: "ignore", rule: "bot_loop" } : decision;
  };

  const admitted = async (event: MessageEvent): Promise<Admitted> => {
    const capabilities = definition(event.channel, event.account)?.capabilities;
    const place = askedPlace(event) ?? { kind: "routed", ...router.resolve(routeInput(event)) };
    const decision = await decide(event, place, capabilities);
    const role = decision.kind === "answer" ? decision.role : "guest";
    const exclusive = isExclusive(event, capabilities);
    return { stored: { event, rule: decision.rule, role }, place, decision, exclusive };
  };

  return async (event, wake) => {
    const asFromOutside = await admitted(event);
    return wake === undefined ? asFromOutside : onTerms(wake, asFromOutside);
  };
}

/** What is said for somebody who may not talk to the agent by now is not answered, and nobody is told why. */
function onTerms(wake: WakeTerms, { stored, decision }: Admitted): Admitted {
  const { agentId, sessionKey, atMost } = wake;
  const { kind, rule } = decision;
  const role = weakerRole(stored.role, atMost);
  return {
    stored: { ...stored, role, wake },
    place: { kind: "asked", agentId, sessionKey },
    decision: kind === "answer" ? { kind, rule, role } : { kind: "ignore", rule },
    exclusive: true,
  };
}

/** Whether a message has a run of its own: its sender waits for exactly its answer, or it must disturb no other run. */
export function isExclusive({ turn }: MessageEvent, capabilities: Capabilities | undefined): boolean {
  return capabilities?.awaitsSingleAnswer === true || turn?.alone === true;
}

/** Whether a route comes from a binding that names the person or the place itself, not every one of its kind. */
function isNamed(match: BindingMatch | undefined, { matchedBy }: Route): boolean {
  const isOfPeer = matchedBy === "binding.peer" || matchedBy === "binding.peer.parent";
  return isOfPeer && match?.peer !== undefined && !match.peer.id.includes("*");
}

/** A conversation with an agent that its client named has a session of its own. */
function askedPlace({ turn, channel, conversation }: MessageEvent): Place | undefined {
  const agentId = turn?.agent;
  if (agentId === undefined) return undefined;
  const sessionKey = formatSessionKey({ kind: "direct", agentId, channel, peerId: conversation.id });
  return { kind: "asked", agentId, sessionKey };
}

/** The conversation as this gateway knows it: platforms number theirs each for itself. */
function placeOf({ channel, account, conversation }: MessageEvent): string {
  return JSON.stringify([channel, account, conversation.id]);
}

function gateInput(event: MessageEvent, bound: boolean, tokenRole: GateInput["tokenRole"]): GateInput {
  return {
    bound,
    tokenRole,
    forwardedFrom: event.forwarded && (event.forwarded.from ?? "forwarded"),
    channel: event.channel,
    account: event.account,
    conversationKind: event.conversation.kind,
    conversationId: event.conversation.id,
    parentId: event.conversation.parentId,
    senderId: event.sender.id,
    senderIsBot: event.sender.isBot,
    senderIsSelf: event.sender.isSelf,
    addressed: event.addressed,
  };
}
