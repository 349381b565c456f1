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
