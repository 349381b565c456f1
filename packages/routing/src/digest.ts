import { hash } from "node:crypto";
import type { RouteInput, RoutingConfig } from "./types.ts";

/** Raised whenever the same configuration would route or name sessions differently, so that old routes are dropped. */
const RULES = 3;

/**
 * Digest of all of a configuration that a route depends on, as 64 hexadecimal digits. Reset policies are not part of
 * it; the order of bindings and of identity links is.
 */
export function configDigest(config: RoutingConfig): string {
  const { bindings, agents, defaultAgent, dmScope = "per-channel-peer", identityLinks = {} } = config;
  return digestOf([
    RULES,
    bindings.map(({ agent, match }) => [
      agent,
      match.channel,
      match.account,
      match.peer && [match.peer.kind, match.peer.id],
      match.guildId,
      match.roles,
      match.teamId,
    ]),
    [...agents].sort(),
    defaultAgent,
    dmScope,
    Object.entries(identityLinks),
  ]);
}

/** Digest of all that one route depends on: the configuration, and what it reads of a message. */
export function routeDigest(config: string, input: RouteInput): string {
  const { channel, account, peer, otherPeerIds = [], parentPeer, guildId, roles, teamId, threadId } = input;
  const ids = [peer.id, ...otherPeerIds];
  const parent = parentPeer && [parentPeer.kind, parentPeer.id];
  return digestOf([config, channel, account, peer.kind, ids, parent, guildId, roles, teamId, threadId]);
}

/** JSON keeps absent values, as `null`, and the borders between texts: different values never give the same text. */
function digestOf(values: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(values));
}
