export * from "./errors.ts";
export type * from "./types/common.ts";
export type * from "./types/inbox.ts";
export type * from "./types/leases.ts";
export type * from "./types/outbox.ts";
export type * from "./types/runs.ts";
export type * from "./types/sessions.ts";
export type * from "./types/side.ts";
export type * from "./types/store.ts";
