import { hash } from "node:crypto";
import type { RouteInput, RoutingConfig } from "./types.ts";

/**
 * Version of the routing rules. Increment it if the same configuration produces different routes, to invalidate cached
 * ones.
 */
const RULES = 3;

/**
 * Returns a digest of all settings that routes depend on, as 64 hexadecimal digits. It includes the order of bindings
 * and identity links, but not reset policies.
 */
export function digestConfig(config: RoutingConfig): string {
  const { bindings, agents, defaultAgent, dmScope = "per-channel-peer", identityLinks = {} } = config;
  return hashValues([
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

/** Returns a digest of everything that one route depends on: the configuration and the message's routing fields. */
export function digestRoute(config: string, input: RouteInput): string {
  const { channel, account, peer, otherPeerIds = [], parentPeer, guildId, roles, teamId, threadId } = input;
  const ids = [peer.id, ...otherPeerIds];
  const parent = parentPeer && [parentPeer.kind, parentPeer.id];
  return hashValues([config, channel, account, peer.kind, ids, parent, guildId, roles, teamId, threadId]);
}

/** Hashes values as JSON. Absent values are `null` and strings are delimited, so different values never collide. */
function hashValues(values: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(values));
}
