import type { Capabilities, MessageEvent } from "@signalbox/channel";
import { getScopes, type TokenRole } from "@signalbox/protocol";
import {
  type Admission,
  type AdmissionDecision,
  type AdmissionInput,
  type Binding,
  type BindingMatch,
  formatSessionKey,
  getTokenName,
  type Route,
  type Router,
} from "@signalbox/routing";
import { createAdmissionInput, routeInput } from "../../configure/routing.ts";
import type { GatewayContext } from "../../context.ts";

/** A message's agent and session, resolved from the bindings or named by the client. */
export type Place =
  | ({ readonly kind: "routed" } & Route)
  | { readonly kind: "asked"; readonly agentId: string; readonly sessionKey: string };

export interface Decided {
  readonly place: Place;
  readonly decision: AdmissionDecision;
  readonly capabilities: Capabilities | undefined;
}

/** The rules and records that the decision depends on. */
export interface AdmissionSources {
  readonly router: Router;
  /** The bindings that the router uses. */
  readonly bindings: readonly Binding[];
  readonly admission: Admission;
  readonly pairing: { isApproved(channel: string, account: string, peerId: string): Promise<boolean> };
  /** Named tokens, which may be revoked at any time. */
  readonly tokens: { named(name: string): Promise<{ readonly role: TokenRole } | undefined> };
  readonly getCapabilities: (channel: string, account: string) => Capabilities | undefined;
}

/** Determines the agent and session for a message and whether its sender may talk there. Changes nothing. */
export function decideAdmission(ctx: GatewayContext, event: MessageEvent): Promise<Decided> {
  return decideFrom(
    {
      router: ctx.router(),
      bindings: ctx.config.current().settings.bindings,
      admission: ctx.admission(),
      pairing: ctx.store.pairing,
      tokens: ctx.store.access.tokens,
      getCapabilities: ctx.getCapabilities,
    },
    event,
  );
}

/** Like {@link decideAdmission}, but for commands that run without a gateway. */
export async function decideFrom(sources: AdmissionSources, event: MessageEvent): Promise<Decided> {
  const { router, bindings, admission, pairing, getCapabilities } = sources;
  const capabilities = getCapabilities(event.channel, event.account);
  const place = askedPlace(event) ?? { kind: "routed", ...router.resolve(routeInput(event)) };
  const bound = place.kind === "routed" && isNamed(bindings[place.bindingIndex ?? -1]?.match, place);
  const isAuthenticated = capabilities?.authenticatedByGateway === true;
  const token = isAuthenticated ? await tokenRole(sources, event) : undefined;
  const input = createAdmissionInput(event, { bound, tokenRole: token });
  const approved =
    admission.needsApproval(input) &&
    (await pairing.isApproved(event.channel, event.account, event.sender.id));
  return { place, decision: admission.decide(input, approved), capabilities };
}

/**
 * Returns the role of the token that was used to send a message, or `none` if the token was revoked in the meantime or
 * may no longer talk to agents.
 */
async function tokenRole(
  { tokens }: AdmissionSources,
  { sender }: MessageEvent,
): Promise<AdmissionInput["tokenRole"]> {
  const { id, authenticatedAs } = sender;
  if (authenticatedAs === undefined) return "owner";
  const name = getTokenName(id);
  if (name === undefined) return authenticatedAs;
  const token = await tokens.named(name);
  if (token === undefined) return "none";
  if (!getScopes(token.role).includes("chat")) return "none";
  return token.role === "owner" ? authenticatedAs : "member";
}

/** Returns true if the binding of a route names this person or conversation by id and not by a pattern. */
function isNamed(match: BindingMatch | undefined, { matchedBy }: Route): boolean {
  const isOfPeer = matchedBy === "binding.peer" || matchedBy === "binding.peer.parent";
  return isOfPeer && match?.peer !== undefined && !match.peer.id.includes("*");
}

/** A client that names an agent gets a separate session for it. */
function askedPlace({ turn, channel, conversation }: MessageEvent): Place | undefined {
  const agentId = turn?.agent;
  if (agentId === undefined) return undefined;
  const sessionKey = formatSessionKey({ kind: "direct", agentId, channel, peerId: conversation.id });
  return { kind: "asked", agentId, sessionKey };
}
