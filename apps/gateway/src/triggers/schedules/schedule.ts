import type { When } from "./when.ts";

/** A task with the times at which it is due. `Task` is defined by the host. */
export interface Schedule<Task> {
  readonly id: string;
  readonly when: When;
  /** How times that passed while no process ran are treated: run the last one once, or skip all. */
  readonly missed: "once" | "skip";
  readonly task: Task;
  /** Milliseconds since the epoch. */
  readonly nextAt: number;
  /** When it was due last. */
  readonly lastAt?: number;
}

/** One time at which a schedule was due, or was made to happen. */
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

/** Keeps schedules as long as the process lives. */
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
