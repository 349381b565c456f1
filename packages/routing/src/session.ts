import type { Identities } from "./identity-links.ts";
import type { SessionKeyParts } from "./session-key.ts";
import type { DmScope, RouteInput } from "./types.ts";

/** The session of a message once its agent is known. */
export function sessionOf(
  agentId: string,
  input: RouteInput,
  scope: DmScope,
  identities: Identities,
): SessionKeyParts {
  const { channel, account, peer } = input;
  // Where a thread is a conversation of its own its id says nothing new.
  const thread =
    input.threadId === undefined || input.threadId === peer.id ? undefined : { threadId: input.threadId };
  if (peer.kind !== "direct") {
    return { kind: peer.kind, agentId, channel, account, peerId: peer.id, ...thread };
  }
  if (scope === "main") return { kind: "main", agentId };
  const person = identities.personOf(channel, peer.id);
  if (person !== undefined) return { kind: "direct", agentId, peerId: person, ...thread };
  const direct = { kind: "direct", agentId, peerId: peer.id, ...thread } as const;
  switch (scope) {
    case "per-channel-peer":
      return { ...direct, channel };
    case "per-account-channel-peer":
      return { ...direct, channel, account };
    case "per-peer":
      return identities.isPerson(peer.id) ? { ...direct, namesake: true } : direct;
  }
}
