import type { When } from "./when.ts";

/** A task and the times at which it is due. The host defines `Task`. */
export interface Schedule<Task> {
  readonly id: string;
  readonly when: When;
  /** Handling of times that passed while no process was running: run the last one once, or skip all. */
  readonly missed: "once" | "skip";
  readonly task: Task;
  /** Milliseconds since the epoch. */
  readonly nextAt: number;
  /** Last due time. */
  readonly lastAt?: number;
  /** Set if it is paused. It is then never due, but can be triggered. */
  readonly paused?: true;
}

/** One occurrence of a schedule, either due or triggered manually. */
export interface Occurrence<Task> {
  readonly schedule: Schedule<Task>;
  /** Identifies an occurrence within its schedule. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** Stores schedules. Data is durable once a promise resolves. */
export interface ScheduleStore<Task> {
  list(): Promise<readonly Schedule<Task>[]>;
  put(schedule: Schedule<Task>): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Creates an in-memory store for schedules. */
export function createMemoryScheduleStore<Task>(): ScheduleStore<Task> {
  const schedules = new Map<string, Schedule<Task>>();
  return {
    list: async () => [...schedules.values()],
    async put(schedule) {
      schedules.set(schedule.id, schedule);
    },
    async remove(id) {
      schedules.delete(id);
    },
  };
}
