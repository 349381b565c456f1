import type { Millis } from "./common.ts";

/** Permissions of a token. See `TokenRole` of `@signalbox/protocol`. */
export type TokenRole = "owner" | "operator" | "viewer" | "monitor" | "member";

/**
 * A client token, stored as its SHA-256 hash. A person who signs in at an OpenID provider has an entry too, whose hash
 * belongs to no token.
 */
export interface AccessToken {
  readonly hash: string;
  readonly name: string;
  readonly role: TokenRole;
  readonly createdAt: Millis;
  readonly usedAt?: Millis;
}

/** A browser session. The id is a hash of its cookie and its CSRF token. */
export interface WebSession {
  readonly id: string;
  /** Hash of the token that opened the session. */
  readonly tokenHash: string;
  readonly createdAt: Millis;
  readonly usedAt: Millis;
}

/** Stores the hashes of tokens and sessions. */
export interface AccessStore {
  readonly tokens: {
    /** Returns false if the name is taken. */
    add(token: Omit<AccessToken, "usedAt">): Promise<boolean>;
    find(hash: string): Promise<AccessToken | undefined>;
    named(name: string): Promise<AccessToken | undefined>;
    used(hash: string, at: Millis): Promise<void>;
    setRole(hash: string, role: TokenRole): Promise<void>;
    /** Returns the tokens, sorted by name. */
    list(): Promise<readonly AccessToken[]>;
    /** Removes a token and its sessions. Returns false if no token has this name. */
    revoke(name: string): Promise<boolean>;
  };
  readonly sessions: {
    open(session: WebSession): Promise<void>;
    find(id: string): Promise<WebSession | undefined>;
    /** Returns the sessions, the latest use first. */
    list(): Promise<readonly WebSession[]>;
    used(id: string, at: Millis): Promise<void>;
    end(id: string): Promise<void>;
    /** Removes sessions that were last used before `usedBefore` or opened before `openedBefore`. */
    forget(usedBefore: Millis, openedBefore: Millis): Promise<void>;
  };
}
