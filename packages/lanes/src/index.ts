export { type Backoff, type BackoffOptions, exponentialBackoff } from "./backoff.ts";
export { type Clock, sleep, systemClock, type Timer } from "./clock.ts";
export { type CrashCountStore, type CrashCounts, createCrashCounts } from "./crash-counts.ts";
export { type End, watchEnd } from "./end.ts";
export { createLanes } from "./lanes.ts";
export { atMost, createLifecycle, type Lifecycle } from "./lifecycle.ts";
export { createQuarantine, type Quarantine, type QuarantineOptions } from "./quarantine.ts";
export { type ChosenModes, createQueueModes, type QueueModes } from "./queue-modes.ts";
export {
  createSupervisor,
  type Judge,
  type Supervisor,
  type SupervisorOptions,
  type Task,
  type TaskEnd,
  type Verdict,
} from "./supervisor.ts";
export { tryAgain } from "./try-again.ts";
export {
  type Batch,
  type DropPolicy,
  type LaneItem,
  type Lanes,
  type LanesOptions,
  type LeftOut,
  QUEUE_MODES,
  type QueueMode,
  type QueueSettings,
  type RunHandle,
  type Stopped,
} from "./types.ts";
export { type Loadable, type WarmUpOptions, warmUp } from "./warm-up.ts";
