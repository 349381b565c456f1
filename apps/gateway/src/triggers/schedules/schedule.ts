import type { When } from "./when.ts";

/** Something that is to be done at its times. `Task` is the host's: what is to be done. */
export interface Schedule<Task> {
  readonly id: string;
  readonly when: When;
  /** What happens to times that passed while no process ran: the last one is made up for, or all are skipped. */
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
  /** Tells it from others of its schedule: the same name is the same occurrence. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** Where schedules are kept. Whatever it resolves is on record. */
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
