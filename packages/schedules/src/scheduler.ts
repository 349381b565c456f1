import type { Occurrence, Schedule, ScheduleStore } from "./schedule.ts";
import { nextDue } from "./when.ts";

/** Time, as far as schedules wait for it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `task` once, after so many milliseconds. */
  after(ms: number, task: () => void): { cancel(): void };
}

export interface SchedulerOptions<Task> {
  readonly store: ScheduleStore<Task>;
  readonly clock: Clock;
  readonly logger: { warn(fields: object, message: string): void };
}

/**
 * Takes an occurrence over. `taken` once it is on record at the host; the same occurrence may come again after a crash,
 * and must then be known. `later`: it is tried again in a while, as after a rejection.
 */
export type Fire<Task> = (occurrence: Occurrence<Task>) => Promise<"taken" | "later">;

export interface Scheduler<Task> {
  /** Reads what is on record, and begins to hand over what is due. */
  start(fire: Fire<Task>): Promise<void>;
  /** Resolves once nothing is under way any more. */
  stop(): Promise<void>;
  list(): readonly Schedule<Task>[];
  /** Puts a schedule on record; one with the same id gives way. Resolves with false where it is never due. */
  add(schedule: Omit<Schedule<Task>, "nextAt" | "lastAt">): Promise<boolean>;
  /** Resolves with false where there is none. */
  remove(id: string): Promise<boolean>;
  /** Has it happen now, beside its times. Under a name that it had before it is the same occurrence. */
  run(id: string, name?: string): Promise<"taken" | "later" | "unknown">;
}

/** The clock is looked at as often at least, in milliseconds: it can be set, and machines sleep. */
const LOOK_MS = 60_000;
/** An occurrence that is later than this was missed. */
const LATE_MS = 60_000;
const AGAIN_MS = 5_000;

/**
 * Hands each occurrence over once it is due. The next time of a schedule is put on record only after the occurrence was
 * taken, so that a crash in between hands the same one over again, and loses none. A clock that is set back repeats
 * nothing: what comes next is after what came last.
 */
export function createScheduler<Task>(options: SchedulerOptions<Task>): Scheduler<Task> {
  const { store, clock, logger } = options;
  const schedules = new Map<string, Schedule<Task>>();
  /** Until when those wait that were not taken. */
  const again = new Map<string, number>();
  let timer: { cancel(): void } | undefined;
  let working: Promise<void> = Promise.resolve();
  /** Undefined while it is not running. */
  let fire: Fire<Task> | undefined;

  const dueAt = ({ id, nextAt }: Schedule<Task>): number => Math.max(nextAt, again.get(id) ?? 0);

  function arm(): void {
    timer?.cancel();
    if (fire === undefined) return;
    let soonest = Number.POSITIVE_INFINITY;
    for (const schedule of schedules.values()) soonest = Math.min(soonest, dueAt(schedule));
    timer = clock.after(Math.max(0, Math.min(soonest - clock.now(), LOOK_MS)), () => {
      working = working.then(work).then(arm);
    });
  }

  async function work(): Promise<void> {
    const now = clock.now();
    const due = [...schedules.values()].filter((schedule) => dueAt(schedule) <= now);
    for (const schedule of due.sort((a, b) => a.nextAt - b.nextAt)) {
      if (fire === undefined) return;
      // It may have been changed while another was handed over.
      if (schedules.get(schedule.id) === schedule) await occur(schedule, fire);
    }
  }

  async function occur(schedule: Schedule<Task>, hand: Fire<Task>): Promise<void> {
    const { id, nextAt, missed } = schedule;
    try {
      const isMissed = clock.now() - nextAt > LATE_MS && !again.has(id);
      if (isMissed && missed === "skip")
        logger.warn({ schedule: id, dueAt: nextAt }, "a schedule was missed");
      else if ((await hand(occurrence(schedule, nextAt))) === "later") return postpone(id);
      await advance(schedule);
    } catch (error) {
      logger.warn({ schedule: id, err: String(error) }, "what is due is tried again");
      postpone(id);
    }
  }

  function postpone(id: string): void {
    again.set(id, clock.now() + AGAIN_MS);
  }

  async function advance(schedule: Schedule<Task>): Promise<void> {
    const { id, when, nextAt: lastAt } = schedule;
    const nextAt = nextDue(when, Math.max(clock.now(), lastAt));
    if (schedules.get(id) !== schedule) return;
    if (nextAt === undefined) await forget(id);
    else await keep({ ...schedule, lastAt, nextAt });
  }

  async function keep(schedule: Schedule<Task>): Promise<void> {
    await store.put(schedule);
    schedules.set(schedule.id, schedule);
    again.delete(schedule.id);
  }

  async function forget(id: string): Promise<void> {
    await store.remove(id);
    schedules.delete(id);
    again.delete(id);
  }

  return {
    async start(given) {
      for (const schedule of await store.list()) schedules.set(schedule.id, schedule);
      fire = given;
      arm();
    },
    async stop() {
      fire = undefined;
      timer?.cancel();
      await working;
    },
    list: () => [...schedules.values()].sort((a, b) => a.nextAt - b.nextAt),
    async add(given) {
      const nextAt = nextDue(given.when, clock.now());
      if (nextAt === undefined) return false;
      await keep({ ...given, nextAt });
      arm();
      return true;
    },
    async remove(id) {
      if (!schedules.has(id)) return false;
      await forget(id);
      arm();
      return true;
    },
    async run(id, name) {
      const schedule = schedules.get(id);
      if (schedule === undefined) return "unknown";
      return fire === undefined ? "later" : fire(occurrence(schedule, clock.now(), name));
    },
  };
}

function occurrence<Task>(schedule: Schedule<Task>, dueAt: number, name = String(dueAt)): Occurrence<Task> {
  return { schedule, dueAt, name };
}
