export type { AccessStore, ClientRole, NamedToken, Principal, WebSession } from "./access.ts";
export { type Access, type Auth, type AuthOptions, createAuth, type SignInEvent } from "./auth.ts";
export { createMemoryAccess } from "./memory-access.ts";
export { createHostSet, isFromOwnPage } from "./origin.ts";
export { hashToken } from "./secrets.ts";
