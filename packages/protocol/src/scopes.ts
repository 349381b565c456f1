import * as z from "zod/mini";

/**
 * Role of a token. `owner`: everything. `operator`: chat, read and write. `viewer`: read. `member`: chat in private
 * conversations. `monitor`: only `/metrics`.
 */
export const TokenRole = z.enum(["owner", "operator", "viewer", "member", "monitor"]);
export type TokenRole = z.infer<typeof TokenRole>;

/**
 * A permission of a token. `chat`: talk to agents. `read`: everything without secrets, conversations of other people
 * included. `write`: stop, repeat and clean up. `owner`: everything that gives
 * instructions, rights or code to an agent, a person or the gateway.
 */
export const Scope = z.enum(["chat", "read", "write", "owner"]);
export type Scope = z.infer<typeof Scope>;

const SCOPES: Readonly<Record<TokenRole, readonly Scope[]>> = {
  owner: ["chat", "read", "write", "owner"],
  operator: ["chat", "read", "write"],
  viewer: ["read"],
  member: ["chat"],
  monitor: [],
};

/** Returns the permissions of a role. */
export function getScopes(role: TokenRole): readonly Scope[] {
  return SCOPES[role];
}
