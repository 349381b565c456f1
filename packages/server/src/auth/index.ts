export { type Auth, type AuthOptions, createAuth } from "./auth.ts";
export { hostsOf, sameOrigin } from "./origin.ts";
export type { Revocations, Session } from "./sessions.ts";
