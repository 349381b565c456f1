import type { Occurrence, Schedule, ScheduleStore } from "./schedule.ts";
import { nextDue } from "./when.ts";

/** The clock that schedules use. */
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
type Fire<Task> = (occurrence: Occurrence<Task>) => Promise<"taken" | "later">;

export interface Scheduler<Task> {
  /** Reads what is on record, and begins to hand over what is due. */
  start(fire: Fire<Task>): Promise<void>;
  /** Resolves once nothing is under way any more. */
  stop(): Promise<void>;
  list(): readonly Schedule<Task>[];
  /** Stores a schedule; one with the same id is replaced. Resolves with false if it is never due. */
  add(schedule: Omit<Schedule<Task>, "nextAt" | "lastAt">): Promise<boolean>;
  /** Resolves with false if there is none. */
  remove(id: string): Promise<boolean>;
  /** Triggers it now, in addition to its times. With a name used before, it is the same occurrence. */
  run(id: string, name?: string): Promise<"taken" | "later" | "unknown">;
}

/** The clock is looked at as often at least, in milliseconds: it can be set, and machines sleep. */
const LOOK_MS = 60_000;
/** An occurrence that is later than this was missed. */
const LATE_MS = 60_000;
const AGAIN_MS = 5_000;

/**
 * Passes each occurrence to the host when it is due. The next time is stored only after the host accepted the
 * occurrence, so a crash in between repeats it with the same name and loses none. A clock that is set back repeats
 * nothing, because the next time is always later than the last one.
 */
export function createScheduler<Task>(options: SchedulerOptions<Task>): Scheduler<Task> {
  return new PersistentScheduler(options);
}

class PersistentScheduler<Task> implements Scheduler<Task> {
  readonly #options: SchedulerOptions<Task>;
  readonly #schedules = new Map<string, Schedule<Task>>();
  /** Until when those wait that were not taken. */
  readonly #again = new Map<string, number>();
  #timer: { cancel(): void } | undefined;
  #working: Promise<void> = Promise.resolve();
  /** Occurrences that were requested outside the schedule's times. */
  readonly #beside = new Set<Promise<unknown>>();
  /** Undefined while it is not running. */
  #fire: Fire<Task> | undefined;

  constructor(options: SchedulerOptions<Task>) {
    this.#options = options;
  }

  async start(given: Fire<Task>): Promise<void> {
    for (const schedule of await this.#options.store.list()) this.#schedules.set(schedule.id, schedule);
    this.#fire = given;
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

  async run(id: string, name?: string): Promise<"taken" | "later" | "unknown"> {
    const schedule = this.#schedules.get(id);
    if (schedule === undefined) return "unknown";
    if (this.#fire === undefined) return "later";
    const handed = this.#fire(occurrence(schedule, this.#options.clock.now(), name));
    this.#beside.add(handed);
    return handed.finally(() => this.#beside.delete(handed));
  }

  #dueAt({ id, nextAt }: Schedule<Task>): number {
    return Math.max(nextAt, this.#again.get(id) ?? 0);
  }

  #arm(): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    if (this.#fire === undefined) return;
    let soonest = Number.POSITIVE_INFINITY;
    for (const schedule of this.#schedules.values()) soonest = Math.min(soonest, this.#dueAt(schedule));
    this.#timer = clock.after(Math.max(0, Math.min(soonest - clock.now(), LOOK_MS)), () => {
      this.#working = this.#working.then(() => this.#work()).then(() => this.#arm());
    });
  }

  async #work(): Promise<void> {
    const now = this.#options.clock.now();
    const due = [...this.#schedules.values()].filter((schedule) => this.#dueAt(schedule) <= now);
    for (const schedule of due.sort((a, b) => a.nextAt - b.nextAt)) {
      if (this.#fire === undefined) return;
      // It may have been changed while another was handed over.
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
    this.#again.set(id, this.#options.clock.now() + AGAIN_MS);
  }

  async #advance(schedule: Schedule<Task>): Promise<void> {
    const { id, when, nextAt: lastAt } = schedule;
    const nextAt = nextDue(when, Math.max(this.#options.clock.now(), lastAt));
    if (this.#schedules.get(id) !== schedule) return;
    await this.#change(id, nextAt === undefined ? undefined : { ...schedule, lastAt, nextAt });
  }

  /** In memory first: what happens while it is written has to go by it. */
  async #change(id: string, schedule: Schedule<Task> | undefined): Promise<void> {
    const { store } = this.#options;
    const before = this.#schedules.get(id);
    this.#hold(id, schedule);
    try {
      await (schedule === undefined ? store.remove(id) : store.put(schedule));
    } catch (error) {
      if (this.#schedules.get(id) === schedule) this.#hold(id, before);
      throw error;
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
