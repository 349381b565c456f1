import type { Millis } from "./common.ts";

/** A token of one client, by its SHA-256. */
export interface AccessToken {
  readonly hash: string;
  readonly name: string;
  readonly role: "owner" | "member";
  readonly createdAt: Millis;
  readonly usedAt?: Millis;
}

/** A browser that has signed in, by a hash of its cookie and its key. */
export interface WebSession {
  readonly id: string;
  /** The token it was opened with. */
  readonly tokenHash: string;
  readonly createdAt: Millis;
  readonly usedAt: Millis;
}

/** Tokens and sessions, as hashes only. */
export interface AccessStore {
  readonly tokens: {
    /** False where the name is taken. */
    add(token: Omit<AccessToken, "usedAt">): Promise<boolean>;
    find(hash: string): Promise<AccessToken | undefined>;
    named(name: string): Promise<AccessToken | undefined>;
    used(hash: string, at: Millis): Promise<void>;
    /** By name. */
    list(): Promise<readonly AccessToken[]>;
    /** Ends its sessions too. False if there is none of that name. */
    revoke(name: string): Promise<boolean>;
  };
  readonly sessions: {
    open(session: WebSession): Promise<void>;
    find(id: string): Promise<WebSession | undefined>;
    used(id: string, at: Millis): Promise<void>;
    end(id: string): Promise<void>;
    /** Removes those that were used last before `usedBefore`, or opened before `openedBefore`. */
    forget(usedBefore: Millis, openedBefore: Millis): Promise<void>;
  };
}
