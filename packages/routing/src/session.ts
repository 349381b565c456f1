import type { Identities } from "./identity-links.ts";
import type { SessionKeyParts } from "./session-key.ts";
import type { DmScope, RouteInput } from "./types.ts";

/** Returns the parts of the session key for a message and its agent. */
export function getSessionKeyParts(
  agentId: string,
  input: RouteInput,
  scope: DmScope,
  identities: Identities,
): SessionKeyParts {
  const { channel, account, peer } = input;
  // If the thread is itself the conversation, its id is already the peer id.
  const thread =
    input.threadId === undefined || input.threadId === peer.id ? undefined : { threadId: input.threadId };
  if (peer.kind !== "direct") {
    return { kind: peer.kind, agentId, channel, account, peerId: peer.id, ...thread };
  }
  if (scope === "main") return { kind: "main", agentId };
  const person = identities.findPerson(channel, peer.id);
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
