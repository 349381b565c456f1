import type { Reader, Scope } from "@signalbox/memory";
import { formatSessionKey, parseSessionKey } from "@signalbox/routing";
import type { Role } from "@signalbox/tools";

/** Of one person, or of whoever is in a chat; nothing is for everyone here. */
type PersonScope = Extract<Scope, { readonly kind: "person" }>;
type ChatScope = Extract<Scope, { readonly kind: "chat" }>;

/** Whose the notes at the top of an agent's memory are. No session has this key. */
export const OWNERS: PersonScope = { kind: "person", person: "owners" };

/**
 * Who hears what is said in a session. A person in private is known by the session, which identity links join over
 * channels; where private messages of all share one session, they share its memory as well, and no other.
 */
export function scopeOf(sessionKey: string): PersonScope | ChatScope {
  const parts = parseSessionKey(sessionKey);
  if (parts?.kind !== "direct") return { kind: "chat", chat: sessionKey };
  const { threadId: _, ...person } = parts;
  return { kind: "person", person: formatSessionKey(person) };
}

/** Who asks in a session, and hears the answer. Owners have their own notes there, as long as nobody else reads along. */
export function readerOf(sessionKey: string, role: Role): Reader {
  const scope = scopeOf(sessionKey);
  const owners = role === "owner" && !isOfGroup(sessionKey) ? [OWNERS.person] : [];
  return scope.kind === "person"
    ? { person: [scope.person, ...owners] }
    : { person: owners, chats: [scope.chat] };
}

/** Where notes of a session go: an owner's, in private, into the agent's own. */
export function noteScopeOf(sessionKey: string, role: Role): Scope {
  return role === "owner" && !isOfGroup(sessionKey) ? OWNERS : scopeOf(sessionKey);
}

export function isOfGroup(sessionKey: string): boolean {
  const kind = parseSessionKey(sessionKey)?.kind;
  return kind !== "direct" && kind !== "main";
}
