import { type Backoff, exponentialBackoff } from "./backoff.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";

/**
 * What a failure means for the work: it may go well later, somebody else is at it and will be done some time (which is
 * no failure, and is looked at again soon), it never will, or nothing in this process can go well any more.
 */
export type Verdict = "retry" | "wait" | "give-up" | "fatal";

/** How often it is looked at whether somebody else is done, in milliseconds. */
const WAIT_MS = 2_000;

/** A piece of work that has to get done, however often what it needs fails. */
export interface Task {
  /** For whoever is told of failures. */
  readonly name: string;
  /**
   * Does the work, once. It is called again after a failure, so it has to look first at what an earlier attempt left.
   * `attempts` counts those before, and is 0 at first.
   */
  attempt(attempts: number): Promise<void>;
  /** Default: the supervisor's own. */
  readonly judge?: Judge;
  /** Brings the work to another end. Where that fails, the work is attempted again later. */
  readonly giveUp?: (error: unknown) => Promise<void>;
  /** Told when the work begins to wait for its next attempt, and when it no longer does. */
  readonly onWaiting?: (waiting: boolean) => void;
}

/** Says what a failure means; `failures` counts those before it. */
export type Judge = (error: unknown, failures: number) => Verdict;

/** How a task ended here. */
export type TaskEnd =
  | { readonly outcome: "done" }
  | { readonly outcome: "given-up" | "fatal"; readonly error: unknown }
  /** The supervisor was closed before the work was done; the next start continues it. */
  | { readonly outcome: "stopped"; readonly error: unknown };

export interface SupervisorOptions {
  readonly judge: Judge;
  /** Default: doubles from two seconds to five minutes. */
  readonly backoff?: Backoff;
  readonly clock?: Clock;
  /** Told of each failure after which the work is attempted again. */
  readonly onRetry?: (task: string, error: unknown, delayMs: number) => void;
  /** Told of each piece of work that is given up. */
  readonly onGiveUp?: (task: string, error: unknown) => void;
  /** Told when nothing in this process can go well any more. What it throws is lost. */
  readonly onFatal: (error: unknown) => void;
}

/** Gets work done over failures that pass: tries, backs off, gives up, and stops in order. */
export interface Supervisor {
  /** Attempts the work until it ends. Never rejects. */
  run(task: Task): Promise<TaskEnd>;
  /** Attempts nothing a second time from now on, and waits for no next attempt; those under way go on. */
  close(): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { backoff = exponentialBackoff(), clock = systemClock } = options;
  const closing = new AbortController();
  const underWay = new Set<Promise<TaskEnd>>();

  const fatal = (error: unknown): TaskEnd => {
    try {
      options.onFatal(error);
    } catch {
      // Whoever is told may fail; the work has its end all the same.
    }
    return { outcome: "fatal", error };
  };

  /** What follows a failure: an end, or another attempt. */
  const settle = async (task: Task, error: unknown, failures: number): Promise<TaskEnd | Again> => {
    const { judge = options.judge, giveUp } = task;
    const verdict = judge(error, failures);
    if (verdict === "fatal") return fatal(error);
    if (verdict !== "give-up") return { error, verdict };
    options.onGiveUp?.(task.name, error);
    const notGivenUp = giveUp && (await failureOf(() => giveUp(error)));
    if (notGivenUp === undefined) return { outcome: "given-up", error };
    return judge(notGivenUp.error, failures) === "fatal"
      ? fatal(notGivenUp.error)
      : { ...notGivenUp, verdict: "retry" };
  };

  const supervise = async (task: Task): Promise<TaskEnd> => {
    let failures = 0;
    for (let attempts = 0; ; attempts++) {
      const failure = await failureOf(() => task.attempt(attempts));
      if (failure === undefined) return { outcome: "done" };
      const settled = await settle(task, failure.error, failures);
      if ("outcome" in settled) return settled;
      const { error, verdict } = settled;
      if (closing.signal.aborted) return { outcome: "stopped", error };
      if (verdict === "retry") failures += 1;
      const delayMs = verdict === "wait" ? WAIT_MS : backoff(failures);
      if (verdict === "retry") options.onRetry?.(task.name, error, delayMs);
      task.onWaiting?.(true);
      await sleep(clock, delayMs, closing.signal);
      task.onWaiting?.(false);
      if (closing.signal.aborted) return { outcome: "stopped", error };
    }
  };

  return {
    run(task) {
      const end = supervise(task);
      underWay.add(end);
      return end.finally(() => underWay.delete(end));
    },
    close: () => closing.abort(),
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

interface Failure {
  readonly error: unknown;
}

interface Again extends Failure {
  readonly verdict: "retry" | "wait";
}

async function failureOf(work: () => Promise<void>): Promise<Failure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
}
