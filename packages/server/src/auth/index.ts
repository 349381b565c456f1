export { type Auth, type AuthOptions, type AuthResult, type Credentials, createAuth } from "./auth.ts";
export { hostsOf, sameOrigin } from "./origin.ts";
export type { Revocations, Session } from "./sessions.ts";
