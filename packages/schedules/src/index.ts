export {
  createMemoryScheduleStore,
  type Occurrence,
  type Schedule,
  type ScheduleStore,
} from "./schedule.ts";
export {
  type Clock,
  createScheduler,
  type Fire,
  type Scheduler,
  type SchedulerOptions,
} from "./scheduler.ts";
export { describeWhen, nextDue, readWhen, type When, WhenError, type WrittenWhen } from "./when.ts";
