export { type ClientRole, hasScope, type Principal } from "./access.ts";
export { type Access, type Auth, type AuthOptions, createAuth, type SignInEvent } from "./auth.ts";
export { createHostSet, isFromOwnPage } from "./origin.ts";
export { hashToken } from "./secrets.ts";
