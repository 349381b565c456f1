export { type AccountOfChannel, accountLease } from "./account-lease.ts";
export * from "./errors.ts";
export { type FileTables, openFileTables, type StoredRow } from "./file-tables.ts";
export { acquireHomeLock, type HomeHolder, type HomeLock, readHomeHolder } from "./home-lock.ts";
export { type AnyId, parseId, timeOf } from "./ids.ts";
export { openStore } from "./open.ts";
export { createPruneSchedule, type PruneSchedule, type PruneScheduleOptions } from "./prune-schedule.ts";
export type * from "./types/index.ts";
