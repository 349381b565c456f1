import { formatSessionKey, isMemberConversation, parseSessionKey, type Role } from "@signalbox/routing";
import type { Reader, Scope } from "../types.ts";

type PersonScope = Extract<Scope, { readonly kind: "person" }>;
type ChatScope = Extract<Scope, { readonly kind: "chat" }>;

/** Scope of the notes at the top of an agent's memory. No session has this key. */
export const OWNERS: PersonScope = { kind: "person", person: "owners" };

export function isOwners(scope: Scope): boolean {
  return scope.kind === OWNERS.kind && scope.person === OWNERS.person;
}

/**
 * Returns the scope of a session's messages. A private session belongs to one person, who may have linked ids on
 * several channels. If all private messages share one session, they also share its memory.
 */
export function scopeOf(sessionKey: string): PersonScope | ChatScope {
  const parts = parseSessionKey(sessionKey);
  if (parts?.kind !== "direct") return { kind: "chat", chat: sessionKey };
  const { threadId: _, ...person } = parts;
  return { kind: "person", person: formatSessionKey(person) };
}

/** Determines what a run in a session may read from memory, and to which scope it writes. */
export interface SessionAccess {
  /**
   * Returns the reader: the person who asks and the people who see the answer. Owners also see the owners' notes if
   * nobody else can read the session.
   *
   * @param speaker immutable id of the only person who speaks in the run. In private, it also finds that person's
   * messages in groups.
   */
  readonly readerFor: (sessionKey: string, role: Role, speaker?: string) => Reader;
  /** Returns the scope of new notes: the owners' notes for an owner in private, otherwise the session's own. */
  readonly noteScopeFor: (sessionKey: string, role: Role) => Scope;
  /** Returns true if an owner speaks and nobody else can read the session. */
  readonly mayReadOwnersNotes: (sessionKey: string, role: Role) => boolean;
}

/** @param isOwnChannel returns true for channels of the gateway's own clients, where members have their own sessions */
export function createSessionAccess(isOwnChannel: (channel: string) => boolean): SessionAccess {
  function mayReadOwnersNotes(sessionKey: string, role: Role): boolean {
    const parts = parseSessionKey(sessionKey);
    const isOwner = role === "owner" || role === "system";
    return isOwner && parts?.kind === "direct" && !isMemberConversation(parts, isOwnChannel);
  }

  return {
    mayReadOwnersNotes,
    noteScopeFor: (sessionKey, role) => (mayReadOwnersNotes(sessionKey, role) ? OWNERS : scopeOf(sessionKey)),
    readerFor(sessionKey, role, speaker) {
      const scope = scopeOf(sessionKey);
      if (scope.kind === "chat") return { chats: [scope.chat] };
      const owners = mayReadOwnersNotes(sessionKey, role) ? [OWNERS.person] : [];
      return { person: [scope.person, ...owners, ...(speaker === undefined ? [] : [speaker])] };
    },
  };
}

/**
 * Returns true if several people may speak and read in a session, either because it is a group or because all private
 * messages share one session.
 */
export function isShared(sessionKey: string): boolean {
  return parseSessionKey(sessionKey)?.kind !== "direct";
}
