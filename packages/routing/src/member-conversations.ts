import type { SessionKeyParts } from "./session-key.ts";

const BETWEEN = "/";

/** What the names of a member's conversations with the gateway's own clients begin with: they are kept apart by it. */
export function memberPrefix(member: string): string {
  return `${member}${BETWEEN}`;
}

/**
 * Whether a session is such a conversation: its member reads it, even if an owner has written into it.
 * @param isOwnChannel whether a channel has the gateway's own clients, who have presented its token
 */
export function isMemberConversation(
  parts: SessionKeyParts,
  isOwnChannel: (channel: string) => boolean,
): boolean {
  if (parts.kind !== "direct" || parts.channel === undefined) return false;
  return isOwnChannel(parts.channel) && parts.peerId.includes(BETWEEN);
}
