export { type Checklist, readChecklist } from "./checklist.ts";
export { createCron } from "./cron.ts";
export { createDelegation, type Delegation, type DelegationPorts } from "./delegation.ts";
export { createHeartbeats, type HeartbeatPorts, type Heartbeats } from "./heartbeat.ts";
export { listWakes, type PlannedWake } from "./list-wakes.ts";
export {
  createScheduledWakes,
  type ScheduledWakes,
  type ScheduledWakesPorts,
  type Wake,
} from "./scheduled-wakes.ts";
export { createSessions } from "./sessions.ts";
export type { WakesLogger, WakesStore, WakingRun } from "./stored.ts";
export type { Place, SubAgentTerms, WakeAgent, WakeTerms } from "./wake.ts";
