import type { Capabilities, ChannelDefinition, MessageEvent } from "@signalbox/channel";
import {
  type Binding,
  type BindingMatch,
  formatSessionKey,
  type Gate,
  type GateDecision,
  type GateInput,
  type Route,
  type Router,
  tokenOfHolder,
} from "@signalbox/routing";
import { gateInput, routeInput } from "./routing.ts";

export interface DecidePorts {
  readonly router: Pick<Router, "resolve">;
  /** Those by which the router decides. */
  readonly bindings: () => readonly Binding[];
  readonly gate: Gate;
  /** People who were let in. */
  readonly pairing: {
    isApproved(channel: string, account: string, peerId: string): Promise<boolean>;
  };
  /** Tokens with names, which may be revoked at any time. */
  readonly tokens: {
    named(name: string): Promise<{ readonly role: string } | undefined>;
  };
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
}

/** Where a message goes: as the bindings have it, or as its sender asked. */
export type Place =
  | ({ readonly kind: "routed" } & Route)
  | { readonly kind: "asked"; readonly agentId: string; readonly sessionKey: string };

export interface Decided {
  readonly place: Place;
  readonly decision: GateDecision;
  readonly capabilities: Capabilities | undefined;
}

/** Decides where a message goes and whether its sender may talk there. It can be asked again, and changes nothing. */
export type Decide = (event: MessageEvent) => Promise<Decided>;

export function createDecide(ports: DecidePorts): Decide {
  const { router, bindings, gate, pairing, definition } = ports;
  return async (event) => {
    const capabilities = definition(event.channel, event.account)?.capabilities;
    const place = askedPlace(event) ?? { kind: "routed", ...router.resolve(routeInput(event)) };
    const bound = place.kind === "routed" && isNamed(bindings()[place.bindingIndex ?? -1]?.match, place);
    const isAuthenticated = capabilities?.authenticatedByGateway === true;
    const token = isAuthenticated ? await tokenRole(ports, event) : undefined;
    const input = gateInput(event, { bound, tokenRole: token });
    const approved =
      gate.needsApproval(input) && (await pairing.isApproved(event.channel, event.account, event.sender.id));
    return { place, decision: gate.decide(input, approved), capabilities };
  };
}

/** What the token may that a message came with. One with a name may have been revoked since. */
async function tokenRole({ tokens }: DecidePorts, { sender }: MessageEvent): Promise<GateInput["tokenRole"]> {
  const { id, authenticatedAs } = sender;
  if (authenticatedAs === undefined) return "owner";
  const name = tokenOfHolder(id);
  if (name === undefined) return authenticatedAs;
  const token = await tokens.named(name);
  if (token === undefined) return "none";
  return token.role === "member" ? "member" : authenticatedAs;
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
