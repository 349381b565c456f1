import type { SessionKeyParts } from "./session-key.ts";

const BETWEEN = "/";

/** What the names of a member's conversations with the gateway's own clients begin with: they are kept apart by it. */
export function memberPrefix(member: string): string {
  return `${member}${BETWEEN}`;
}

/** Whether a session is such a conversation: its member reads it, also where an owner has written into it. */
export function isMemberConversation(parts: SessionKeyParts): boolean {
  const isOwnClient = parts.kind === "direct" && (parts.channel === "web" || parts.channel === "api");
  return isOwnClient && parts.peerId.includes(BETWEEN);
}
