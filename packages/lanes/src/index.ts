export { type Backoff, exponentialBackoff } from "./backoff.ts";
export { type Clock, sleep, systemClock } from "./clock.ts";
export { type CrashCountStore, createCrashCounts } from "./crash-counts.ts";
export { createLanes } from "./lanes.ts";
export { createLifecycle, type Lifecycle, withTimeout } from "./lifecycle.ts";
export { createQueueModes, type QueueModes } from "./queue-modes.ts";
export { retry } from "./retry.ts";
export { type ShutdownWatch, watchShutdown } from "./shutdown-watch.ts";
export { createSupervisor, type RetryPolicy, type Supervisor, type Task } from "./supervisor.ts";
export {
  type Batch,
  type Dropped,
  type LaneItem,
  type Lanes,
  type LanesOptions,
  QUEUE_MODES,
  type QueueMode,
  type QueueSettings,
  type RunHandle,
  type StopResult,
} from "./types.ts";
