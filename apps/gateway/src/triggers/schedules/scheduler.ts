import type { Clock } from "@signalbox/lanes";
import type { Occurrence, Schedule, ScheduleStore } from "./schedule.ts";
import { nextDue } from "./when.ts";

export interface SchedulerOptions<Task> {
  readonly store: ScheduleStore<Task>;
  readonly clock: Clock;
  readonly logger: { warn(fields: object, message: string): void };
  /**
   * Returns false for schedules that another process executes. They are neither loaded nor changed. Default: always
   * true
   */
  readonly isOwn?: (task: Task) => boolean;
}

/**
 * Accepts an occurrence. Returns `taken` once the occurrence is recorded. The same occurrence may be repeated after a
 * crash and must be recognized. `later` and a rejection cause a retry.
 */
type Fire<Task> = (occurrence: Occurrence<Task>) => Promise<"taken" | "later">;

export interface Scheduler<Task> {
  /** Loads the stored schedules and starts to pass on due occurrences. */
  start(fire: Fire<Task>): Promise<void>;
  /**
   * Adopts the current result of `isOwn`: loads the schedules that another process executed until now, and drops those
   * that another process executes from now on.
   */
  reload(): Promise<void>;
  /** Resolves when no occurrence is being passed on. */
  stop(): Promise<void>;
  list(): readonly Schedule<Task>[];
  /** Stores a schedule. A schedule with the same id is replaced. Resolves with false if the schedule is never due. */
  add(schedule: Omit<Schedule<Task>, "nextAt" | "lastAt">): Promise<boolean>;
  /** Resolves with false if the schedule does not exist. */
  remove(id: string): Promise<boolean>;
  /**
   * Pauses or continues a schedule. Times that pass during a pause are skipped. If no time is left when a schedule is
   * continued, it is removed. Resolves with false if the schedule does not exist.
   */
  pause(id: string, isPaused: boolean): Promise<boolean>;
  /**
   * Triggers the schedule immediately, in addition to its regular times. A repeated name denotes the same occurrence.
   */
  run(id: string, name?: string): Promise<"taken" | "later" | "unknown">;
}

/** Maximum interval between two clock checks, in milliseconds. The clock may be changed, and the machine may sleep. */
const MAX_INTERVAL_MS = 60_000;
/** Delay after which an occurrence counts as missed, in milliseconds. */
const LATE_MS = 60_000;
const RETRY_MS = 5_000;

/**
 * Passes each occurrence to the host when it is due. The next time is stored only after the host has accepted the
 * occurrence, so a crash in between repeats the occurrence with the same name and loses none. If the clock is set back,
 * nothing is repeated, because the next time is always later than the last one.
 */
export function createScheduler<Task>(options: SchedulerOptions<Task>): Scheduler<Task> {
  return new PersistentScheduler(options);
}

class PersistentScheduler<Task> implements Scheduler<Task> {
  readonly #options: SchedulerOptions<Task>;
  readonly #schedules = new Map<string, Schedule<Task>>();
  /** Retry times of occurrences that were not accepted. */
  readonly #again = new Map<string, number>();
  #timer: { cancel(): void } | undefined;
  #working: Promise<void> = Promise.resolve();
  /** Occurrences that were requested in addition to the schedule's times. */
  readonly #beside = new Set<Promise<unknown>>();
  /** Ids of schedules whose change is being stored, by change. */
  readonly #changing = new Map<symbol, string>();
  /** Undefined if the scheduler is stopped. */
  #fire: Fire<Task> | undefined;

  constructor(options: SchedulerOptions<Task>) {
    this.#options = options;
  }

  async start(given: Fire<Task>): Promise<void> {
    this.#fire = given;
    await this.reload();
  }

  async reload(): Promise<void> {
    const { store, isOwn = () => true } = this.#options;
    const changing = new Set([...this.#schedules.keys(), ...this.#changing.values()]);
    const stored = await store.list();
    for (const { id, task } of [...this.#schedules.values()]) if (!isOwn(task)) this.#hold(id, undefined);
    for (const schedule of stored) {
      const { id, task } = schedule;
      // A schedule that is executed here may have been changed during the read.
      if (!isOwn(task) || changing.has(id) || this.#schedules.has(id)) continue;
      this.#hold(id, schedule);
    }
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#fire = undefined;
    this.#timer?.cancel();
    await Promise.allSettled([this.#working, ...this.#beside]);
  }

  list(): readonly Schedule<Task>[] {
    return [...this.#schedules.values()].sort((a, b) => a.nextAt - b.nextAt);
  }

  async add(given: Omit<Schedule<Task>, "nextAt" | "lastAt">): Promise<boolean> {
    const nextAt = nextDue(given.when, this.#options.clock.now());
    if (nextAt === undefined) return false;
    await this.#change(given.id, { ...given, nextAt });
    this.#arm();
    return true;
  }

  async remove(id: string): Promise<boolean> {
    if (!this.#schedules.has(id)) return false;
    await this.#change(id, undefined);
    this.#arm();
    return true;
  }

  async pause(id: string, isPaused: boolean): Promise<boolean> {
    const schedule = this.#schedules.get(id);
    if (schedule === undefined) return false;
    const { paused: _, ...active } = schedule;
    const nextAt = isPaused ? schedule.nextAt : nextDue(schedule.when, this.#options.clock.now());
    const paused = { ...schedule, paused: true } as const;
    await this.#change(id, isPaused ? paused : nextAt === undefined ? undefined : { ...active, nextAt });
    this.#arm();
    return true;
  }

  async run(id: string, name?: string): Promise<"taken" | "later" | "unknown"> {
    const schedule = this.#schedules.get(id);
    if (schedule === undefined) return "unknown";
    if (this.#fire === undefined) return "later";
    const handed = this.#fire(occurrence(schedule, this.#options.clock.now(), name));
    this.#beside.add(handed);
    return handed.finally(() => this.#beside.delete(handed));
  }

  #dueAt({ id, nextAt, paused }: Schedule<Task>): number {
    if (paused) return Number.POSITIVE_INFINITY;
    return Math.max(nextAt, this.#again.get(id) ?? 0);
  }

  #arm(): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    if (this.#fire === undefined) return;
    let soonest = Number.POSITIVE_INFINITY;
    for (const schedule of this.#schedules.values()) soonest = Math.min(soonest, this.#dueAt(schedule));
    this.#timer = clock.after(Math.max(0, Math.min(soonest - clock.now(), MAX_INTERVAL_MS)), () => {
      this.#working = this.#working.then(() => this.#work()).then(() => this.#arm());
    });
  }

  async #work(): Promise<void> {
    const now = this.#options.clock.now();
    const due = [...this.#schedules.values()].filter((schedule) => this.#dueAt(schedule) <= now);
    for (const schedule of due.sort((a, b) => a.nextAt - b.nextAt)) {
      if (this.#fire === undefined) return;
      // The schedule may have changed while the occurrence was being passed on.
      if (this.#schedules.get(schedule.id) === schedule) await this.#occur(schedule, this.#fire);
    }
  }

  async #occur(schedule: Schedule<Task>, hand: Fire<Task>): Promise<void> {
    const { clock, logger } = this.#options;
    const { id, nextAt, missed } = schedule;
    try {
      const isMissed = clock.now() - nextAt > LATE_MS && !this.#again.has(id);
      if (isMissed && missed === "skip")
        logger.warn({ schedule: id, dueAt: nextAt }, "a schedule was missed");
      else if ((await hand(occurrence(schedule, nextAt))) === "later") return this.#postpone(id);
      await this.#advance(schedule);
    } catch (error) {
      logger.warn({ schedule: id, err: String(error) }, "a due schedule will be retried");
      this.#postpone(id);
    }
  }

  #postpone(id: string): void {
    this.#again.set(id, this.#options.clock.now() + RETRY_MS);
  }

  async #advance(schedule: Schedule<Task>): Promise<void> {
    const { id, when, nextAt: lastAt } = schedule;
    const nextAt = nextDue(when, Math.max(this.#options.clock.now(), lastAt));
    if (this.#schedules.get(id) !== schedule) return;
    await this.#change(id, nextAt === undefined ? undefined : { ...schedule, lastAt, nextAt });
  }

  /** Update the memory first, because code that runs during the write must see the change. */
  async #change(id: string, schedule: Schedule<Task> | undefined): Promise<void> {
    const { store } = this.#options;
    const before = this.#schedules.get(id);
    this.#hold(id, schedule);
    const change = Symbol(id);
    this.#changing.set(change, id);
    try {
      await (schedule === undefined ? store.remove(id) : store.put(schedule));
    } catch (error) {
      if (this.#schedules.get(id) === schedule) this.#hold(id, before);
      throw error;
    } finally {
      this.#changing.delete(change);
    }
    this.#again.delete(id);
  }

  #hold(id: string, schedule: Schedule<Task> | undefined): void {
    if (schedule === undefined) this.#schedules.delete(id);
    else this.#schedules.set(id, schedule);
  }
}

function occurrence<Task>(schedule: Schedule<Task>, dueAt: number, name = String(dueAt)): Occurrence<Task> {
  return { schedule, dueAt, name };
}
