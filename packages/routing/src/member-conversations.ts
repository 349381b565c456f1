import type { SessionKeyParts } from "./session-key.ts";

const BETWEEN = "/";

/** Returns the prefix of the names of a member's conversations with the gateway's own clients. */
export function getMemberPrefix(member: string): string {
  return `${member}${BETWEEN}`;
}

/**
 * Returns true if a session is a member's conversation with one of the gateway's own clients. The member can read it,
 * even if an owner has written to it.
 *
 * @param isOwnChannel returns true for channels of the gateway's own clients, which authenticate with a token
 */
export function isMemberConversation(
  parts: SessionKeyParts,
  isOwnChannel: (channel: string) => boolean,
): boolean {
  if (parts.kind !== "direct" || parts.channel === undefined) return false;
  return isOwnChannel(parts.channel) && parts.peerId.includes(BETWEEN);
}
