/** Permissions of a client: an `owner` may do everything, a `member` talks to agents in private conversations. */
export type ClientRole = "owner" | "member";

/** The holder of the token that authenticates a request. */
export interface Principal {
  /** `owner` for the gateway's own token, otherwise the name of the token. */
  readonly name: string;
  readonly role: ClientRole;
}

/** The principal of the gateway's own token. */
export const OWNER: Principal = { name: "owner", role: "owner" };

/** A token in addition to the gateway's own. The token itself is not stored. */
export interface NamedToken extends Principal {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  /** Milliseconds since the epoch, like all times here. */
  readonly createdAt: number;
  /** Last use, to the minute. */
  readonly usedAt?: number;
}

/** A browser session. Neither its cookie nor its key is stored. */
export interface WebSession {
  /** HMAC-SHA-256 of the cookie under the session's key, in hexadecimal. */
  readonly id: string;
  /** Hash of the token that opened the session. Revoking the token ends the session. */
  readonly tokenHash: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

/** Stores tokens and sessions as hashes, so that a copy of the store grants no access. */
export interface AccessStore {
  readonly tokens: {
    /** Returns false if the name is taken. */
    add(token: Omit<NamedToken, "usedAt">): Promise<boolean>;
    find(hash: string): Promise<NamedToken | undefined>;
    named(name: string): Promise<NamedToken | undefined>;
    used(hash: string, at: number): Promise<void>;
    /** Lists tokens by name. */
    list(): Promise<readonly NamedToken[]>;
    /** Deletes a token and its sessions. Returns false if there is no token with that name. */
    revoke(name: string): Promise<boolean>;
  };
  readonly sessions: {
    open(session: WebSession): Promise<void>;
    find(id: string): Promise<WebSession | undefined>;
    used(id: string, at: number): Promise<void>;
    end(id: string): Promise<void>;
    /** Deletes sessions that were last used before `usedBefore` or opened before `openedBefore`. */
    forget(usedBefore: number, openedBefore: number): Promise<void>;
  };
}
