export { type Checklist, readChecklist } from "./checklist.ts";
export { createCronHandler } from "./cron-handler.ts";
export { createDelegation, type Delegation, type DelegationPorts } from "./delegation.ts";
export { createHeartbeats, type HeartbeatPorts, type Heartbeats } from "./heartbeat.ts";
export { listWakes } from "./list-wakes.ts";
export {
  createOtherSessions,
  type OtherSessions,
  type OtherSessionsPorts,
  type SessionReach,
} from "./other-sessions.ts";
export type { WakesLogger, WakesStore, WakingRun } from "./ports.ts";
export { createScheduleDesk, type ScheduleDesk, type ScheduleDeskPorts } from "./schedule-desk.ts";
export {
  createScheduledWakes,
  createWakeStore,
  type ScheduledWakes,
  type ScheduledWakesPorts,
  type Wake,
} from "./scheduled-wakes.ts";
export { createSessionsHandler } from "./sessions-handler.ts";
export type { Place, SubAgentTerms, WakeAgent, WakeTerms } from "./wake.ts";
