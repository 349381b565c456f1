import { createHash } from "node:crypto";
import type { Peer, RouteInput, RoutingConfig } from "./types.ts";

/** Raised whenever the same configuration would route or name sessions differently, so that old routes are dropped. */
const RULES = 1;

/**
 * Digest of all of a configuration that a route depends on, as 64 hexadecimal digits. Reset policies are not part of
 * it; the order of bindings and of identity links is.
 */
export function configDigest(config: RoutingConfig): string {
  const { bindings, agents, defaultAgent, dmScope = "per-channel-peer", identityLinks = {} } = config;
  return sha256(
    JSON.stringify([
      RULES,
      bindings.map(({ agent, match }) => [
        agent,
        match.channel,
        match.account ?? null,
        match.peer === undefined ? null : [match.peer.kind, match.peer.id],
        match.guildId ?? null,
        match.roles ?? null,
        match.teamId ?? null,
      ]),
      [...agents].sort(),
      defaultAgent,
      dmScope,
      Object.entries(identityLinks),
    ]),
  );
}

/** All of a message that a route depends on, as text. Different messages never give the same text. */
export function inputKey(input: RouteInput): string {
  const { channel, account, peer, roles } = input;
  let key = `${channel.length}:${channel}${account.length}:${account}${peerKey(peer)}`;
  if (input.parentPeer !== undefined) key += `^${peerKey(input.parentPeer)}`;
  if (input.guildId !== undefined) key += `g${input.guildId.length}:${input.guildId}`;
  if (input.teamId !== undefined) key += `t${input.teamId.length}:${input.teamId}`;
  if (input.threadId !== undefined) key += `#${input.threadId.length}:${input.threadId}`;
  if (roles !== undefined) for (const role of roles) key += `r${role.length}:${role}`;
  return key;
}

function peerKey({ kind, id }: Peer): string {
  return `${kind}${id.length}:${id}`;
}

/** Key of a route in the durable cache. */
export function routeDigest(config: string, inputKey: string): string {
  return sha256(`${config}\n${inputKey}`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
