/** What a client may do: `owner` everything, `member` talk to agents in conversations of its own. */
export type ClientRole = "owner" | "member";

/** Who a request speaks for. */
export interface Principal {
  /** `owner` for the gateway's own token, else the name of the token. */
  readonly name: string;
  readonly role: ClientRole;
}

/** The gateway's own token acts for its operator. */
export const OWNER: Principal = { name: "owner", role: "owner" };

/** A token of one client, besides the gateway's own. The token itself is stored nowhere. */
export interface NamedToken extends Principal {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number;
  /** To the minute. */
  readonly usedAt?: number;
}

/** A browser that has signed in. Its cookie and its key are kept nowhere. */
export interface WebSession {
  /** HMAC-SHA-256 of the cookie under the key of the session, in hexadecimal. */
  readonly id: string;
  /** The token that it was opened with, by a hash: it ends with that token. */
  readonly tokenHash: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

/** What the server stores about tokens and sessions: hashes, so that a copy lets no one in. */
export interface AccessStore {
  readonly tokens: {
    /** False where the name is taken. */
    add(token: Omit<NamedToken, "usedAt">): Promise<boolean>;
    find(hash: string): Promise<NamedToken | undefined>;
    named(name: string): Promise<NamedToken | undefined>;
    used(hash: string, at: number): Promise<void>;
    /** By name. */
    list(): Promise<readonly NamedToken[]>;
    /** Ends its sessions too. False if there is none of that name. */
    revoke(name: string): Promise<boolean>;
  };
  readonly sessions: {
    open(session: WebSession): Promise<void>;
    find(id: string): Promise<WebSession | undefined>;
    used(id: string, at: number): Promise<void>;
    end(id: string): Promise<void>;
    /** Forgets those that were used last before `usedBefore`, or opened before `openedBefore`. */
    forget(usedBefore: number, openedBefore: number): Promise<void>;
  };
}
