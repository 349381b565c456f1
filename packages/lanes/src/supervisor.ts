import { type Backoff, exponentialBackoff } from "./backoff.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";

/**
 * The next step after a failure.
 * - `retry`: attempt the task again after a backoff.
 * - `wait`: another process holds what the task needs. Check again every two seconds; this is not a failure.
 * - `give_up`: the task can never succeed.
 * - `fatal`: nothing in this process can succeed anymore.
 */
type RetryDecision = "retry" | "wait" | "give_up" | "fatal";

/** Decides what to do after a failure. `failures` is the number of earlier failures of the task. */
export type RetryPolicy = (error: unknown, failures: number) => RetryDecision;

const WAIT_MS = 2_000;

/** A task that must be completed despite failures. */
export interface Task {
  /** The name for log messages. */
  readonly name: string;
  /**
   * Runs the task. Called again after a failure, so it must first check what an earlier attempt has already done.
   *
   * @param attempts number of earlier attempts
   */
  attempt(attempts: number): Promise<void>;
  /** Default: the supervisor's policy. */
  readonly retryPolicy?: RetryPolicy;
  /** Ends the task in another way after the decision `give_up`. If this fails, the task is attempted again later. */
  readonly giveUp?: (error: unknown) => Promise<void>;
  /** Called with true when the delay before the next attempt begins, and with false when it ends. */
  readonly onWaiting?: (waiting: boolean) => void;
}

/** The outcome of a task in this process. `stopped`: the supervisor was closed first; the next process continues. */
type TaskResult =
  | { readonly outcome: "done" }
  | { readonly outcome: "given_up" | "fatal" | "stopped"; readonly error: unknown };

export interface SupervisorOptions {
  readonly retryPolicy: RetryPolicy;
  /** Default: doubles from two seconds to five minutes. */
  readonly backoff?: Backoff;
  readonly clock?: Clock;
  /** Called after each failure that is followed by another attempt. */
  readonly onRetry?: (task: string, error: unknown, delayMs: number) => void;
  /** Called when a task is given up. */
  readonly onGiveUp?: (task: string, error: unknown) => void;
  /** Called after the decision `fatal`. Its errors are ignored. */
  readonly onFatal: (error: unknown) => void;
}

/** Completes tasks: retries them with a backoff, gives up on them if necessary, and stops in an orderly way. */
export interface Supervisor {
  /** Attempts a task until it ends. Never rejects. */
  run(task: Task): Promise<TaskResult>;
  /** Starts no further attempts and ends all delays. Attempts in flight continue. */
  close(): void;
  /** Resolves when no task is in progress. */
  idle(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { backoff = exponentialBackoff(), clock = systemClock } = options;
  const closing = new AbortController();
  const inProgress = new Set<Promise<TaskResult>>();

  const fatal = (error: unknown): TaskResult => {
    try {
      options.onFatal(error);
    } catch {
      // The task ends in any case.
    }
    return { outcome: "fatal", error };
  };

  const handleFailure = async (task: Task, error: unknown, failures: number): Promise<TaskResult | Again> => {
    const { retryPolicy = options.retryPolicy, giveUp } = task;
    const decision = retryPolicy(error, failures);
    if (decision === "fatal") return fatal(error);
    if (decision !== "give_up") return { error, decision };
    options.onGiveUp?.(task.name, error);
    const failure = giveUp && (await catchFailure(() => giveUp(error)));
    if (failure === undefined) return { outcome: "given_up", error };
    return retryPolicy(failure.error, failures) === "fatal"
      ? fatal(failure.error)
      : { ...failure, decision: "retry" };
  };

  const supervise = async (task: Task): Promise<TaskResult> => {
    let failures = 0;
    for (let attempts = 0; ; attempts++) {
      const failure = await catchFailure(() => task.attempt(attempts));
      if (failure === undefined) return { outcome: "done" };
      const next = await handleFailure(task, failure.error, failures);
      if ("outcome" in next) return next;
      const { error, decision } = next;
      if (closing.signal.aborted) return { outcome: "stopped", error };
      if (decision === "retry") failures += 1;
      const delayMs = decision === "wait" ? WAIT_MS : backoff(failures);
      if (decision === "retry") options.onRetry?.(task.name, error, delayMs);
      task.onWaiting?.(true);
      await sleep(clock, delayMs, closing.signal);
      task.onWaiting?.(false);
      if (closing.signal.aborted) return { outcome: "stopped", error };
    }
  };

  return {
    run(task) {
      const result = supervise(task);
      inProgress.add(result);
      return result.finally(() => inProgress.delete(result));
    },
    close: () => closing.abort(),
    async idle() {
      while (inProgress.size > 0) await Promise.all(inProgress);
    },
  };
}

interface Failure {
  readonly error: unknown;
}

interface Again extends Failure {
  readonly decision: "retry" | "wait";
}

async function catchFailure(work: () => Promise<void>): Promise<Failure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
}
