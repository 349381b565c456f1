export { type AccountOfChannel, accountLease } from "./account-lease.ts";
export {
  FencedError,
  HomeHeldError,
  isFatal,
  isPassing,
  isStoreError,
  StoreError,
  type StoreErrorCode,
  StoreNewerError,
  storeErrorIn,
} from "./errors.ts";
export { acquireHomeLock, type HomeHolder, type HomeLock, readHomeHolder } from "./home-lock.ts";
export { type AnyId, parseId, timeOf } from "./ids.ts";
export { openStore } from "./open.ts";
export { createPruneSchedule, type PruneSchedule, type PruneScheduleOptions } from "./prune-schedule.ts";
export type * from "./types/access.ts";
export type * from "./types/admin.ts";
export type * from "./types/approvals.ts";
export type * from "./types/audit.ts";
export type * from "./types/budgets.ts";
export type * from "./types/common.ts";
export type * from "./types/contexts.ts";
export type * from "./types/history.ts";
export type * from "./types/inbox.ts";
export type * from "./types/kv.ts";
export type * from "./types/leases.ts";
export type * from "./types/maintenance.ts";
export type * from "./types/outbox.ts";
export type * from "./types/pairing.ts";
export type * from "./types/routes.ts";
export type * from "./types/runs.ts";
export type * from "./types/sessions.ts";
export type * from "./types/store.ts";
export type * from "./types/traces.ts";
export type * from "./types/usage.ts";
