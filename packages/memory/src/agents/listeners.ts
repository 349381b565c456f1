import { formatSessionKey, isMemberConversation, parseSessionKey } from "@signalbox/routing";
import type { Reader, Scope } from "../types.ts";

/** Who speaks in a session; of several, the one who may least. `system` speaks for an owner who is not there. */
export type Role = "owner" | "member" | "guest" | "system";

/** Of one person, or of whoever is in a chat; nothing is for everyone here. */
type PersonScope = Extract<Scope, { readonly kind: "person" }>;
type ChatScope = Extract<Scope, { readonly kind: "chat" }>;

/** Whose the notes at the top of an agent's memory are. No session has this key. */
export const OWNERS: PersonScope = { kind: "person", person: "owners" };

export function isOwners(scope: Scope): boolean {
  return scope.kind === OWNERS.kind && scope.person === OWNERS.person;
}

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

/** Who hears what is said in a session, by who speaks there. */
export interface Listeners {
  /** Who asks, and sees the answer. Owners see their own notes there, as long as no one else can read. */
  readonly readerOf: (sessionKey: string, role: Role) => Reader;
  /** Where notes go: an owner's, in private, into the agent's own. */
  readonly noteScopeOf: (sessionKey: string, role: Role) => Scope;
  /** Whether owners' private notes may be shown: if an owner speaks, and no one else can read. */
  readonly hearsOwners: (sessionKey: string, role: Role) => boolean;
}

/** @param isOwnChannel whether a channel has the gateway's own clients: a member reads along on it */
export function createListeners(isOwnChannel: (channel: string) => boolean): Listeners {
  function hearsOwners(sessionKey: string, role: Role): boolean {
    const parts = parseSessionKey(sessionKey);
    const isOwnersWord = role === "owner" || role === "system";
    return isOwnersWord && parts?.kind === "direct" && !isMemberConversation(parts, isOwnChannel);
  }

  return {
    hearsOwners,
    noteScopeOf: (sessionKey, role) => (hearsOwners(sessionKey, role) ? OWNERS : scopeOf(sessionKey)),
    readerOf(sessionKey, role) {
      const scope = scopeOf(sessionKey);
      if (scope.kind === "chat") return { chats: [scope.chat] };
      return { person: hearsOwners(sessionKey, role) ? [scope.person, OWNERS.person] : [scope.person] };
    },
  };
}

/** Whether several people may speak and read in a session: in a group, and where all private messages share one. */
export function isShared(sessionKey: string): boolean {
  return parseSessionKey(sessionKey)?.kind !== "direct";
}
