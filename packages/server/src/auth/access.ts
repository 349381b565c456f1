import { getScopes, type Scope, type TokenRole } from "@signalbox/protocol";

/** Role of a token's holder. See `TokenRole`. */
export type ClientRole = TokenRole;

/** The holder of the token that authenticates a request. */
export interface Principal {
  /** `owner` for the gateway's own token, otherwise the name of the token. */
  readonly name: string;
  readonly role: ClientRole;
}

/** The principal of the gateway's own token. */
export const OWNER: Principal = { name: "owner", role: "owner" };

/** Returns true if the token of a principal has a scope. */
export function hasScope({ role }: Principal, scope: Scope): boolean {
  return getScopes(role).includes(scope);
}
