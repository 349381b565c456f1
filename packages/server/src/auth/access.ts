import { getScopes, type Scope, type TokenRole } from "@signalbox/protocol";
import type { WebSession } from "@signalbox/store/types";

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

/** A verified credential. */
export interface Access {
  readonly principal: Principal;
  /** Hash of the token, or the key of a person. Revoking it ends every connection that it opened. */
  readonly tokenHash: string;
  /** Absent if the request carried the token itself. */
  readonly session?: WebSession;
  /** End of an access token of the OpenID provider, in milliseconds since the epoch. */
  readonly expiresAt?: number;
}

export type AuthResult =
  | { readonly kind: "granted"; readonly access: Access }
  | { readonly kind: "refused" | "throttled" };

/** The source of a request. */
export interface Peer {
  /** Address of the peer. Wrong secrets are counted per address. */
  readonly remote: string;
  /** Local port that received the request. Cookie names contain it. */
  readonly port: number;
}
