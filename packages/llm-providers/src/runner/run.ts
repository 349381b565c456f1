import type {
  AttemptFailure,
  ModelContext,
  ModelErrorData,
  ModelEvent,
  StreamOptions,
} from "@signalbox/agent-core";
import { failure } from "../failure/failure.ts";
import { failedTurn } from "../turn/turn.ts";
import { guardStream } from "./guard.ts";
import type { Attempt, AttemptPlan, Step } from "./plan.ts";

/** Maximum length of an error message, in UTF-16 code units. Some vendors quote the entire request. */
const MAX_MESSAGE_LENGTH = 4_000;
/**
 * Length of the message prefix that is redacted. It is longer than the kept part, so a secret that begins in the kept
 * part is redacted completely.
 */
const MAX_REDACTED_LENGTH = 8_000;

type ErrorEvent = Extract<ModelEvent, { type: "error" }>;
/** The events of one attempt. Returns the next step. */
type Events = AsyncGenerator<ModelEvent, Step | undefined>;

/** Waits. Rejects when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export interface RunSetup {
  readonly plan: AttemptPlan;
  /**
   * Opens the stream of one attempt. The stream may be silent for `silenceMs`, or for as long as its account allows.
   */
  readonly open: (attempt: Attempt, silenceMs: number | undefined) => AsyncIterable<ModelEvent>;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly now: () => number;
  readonly sleep: Sleep;
  /** Removes secrets from the vendors' messages. */
  readonly redact: (text: string) => string;
}

/**
 * Runs one request with its retries, keys and fallbacks as one event stream. The `start` event and the usage of an
 * attempt are held back until its first block. If the attempt then fails before any text (tool calls do not count), or
 * before anyone has seen its text, an `attempt` event discards it and another attempt follows.
 */
export function runAttempts(setup: RunSetup): AsyncIterable<ModelEvent> {
  const run = new Run(setup);
  const events = run.events();
  const stream = {
    [Symbol.asyncIterator]: () => stream,
    next: () => events.next(),
    // A generator can only be stopped at its next `yield`.
    return() {
      run.leave();
      return events.return(undefined);
    },
  };
  return stream;
}

class Run {
  readonly #setup: RunSetup;
  readonly #leaving = new AbortController();
  #current: AsyncIterator<ModelEvent> | undefined;

  constructor(setup: RunSetup) {
    this.#setup = setup;
  }

  /** Called when the consumer has stopped reading. */
  leave(): void {
    this.#leaving.abort();
    this.#current?.return?.().catch(() => {});
  }

  async *events(): AsyncGenerator<ModelEvent, undefined> {
    const { plan, now } = this.#setup;
    let attempt: Attempt | undefined = plan.first(now());
    while (attempt !== undefined) {
      const step: Step | undefined = yield* this.#runAttempt(attempt);
      attempt = step?.attempt;
      if (step === undefined || step.next.delayMs === 0 || (await this.#wait(step.next.delayMs))) continue;
      yield* failedTurn({ model: step.attempt.model, now }, failure("aborted", "The request was aborted."));
      return;
    }
  }

  /** Runs one attempt and returns the next step. */
  async *#runAttempt(attempt: Attempt): Events {
    const { open, plan, now, context, options } = this.#setup;
    const silenceMs = plan.silenceMs(attempt, now());
    const stream = guardStream(
      () => open(attempt, silenceMs),
      { model: attempt.model, context, options },
      now,
    );
    this.#current = stream[Symbol.asyncIterator]();
    const held: ModelEvent[] = [];
    let begun = false;
    for await (const event of stream) {
      if (event.type === "error") return yield* this.#handleError(attempt, this.#redacted(event), begun);
      if (event.type !== "start" && !begun) plan.alive(now());
      if (!begun && (event.type === "start" || event.type === "usage")) {
        held.push(event);
        continue;
      }
      if (!begun) {
        begun = true;
        attempt.ring.worked(attempt.key);
        yield* held;
      }
      yield event;
    }
    return undefined;
  }

  /** @param begun whether events of the attempt have been delivered */
  async *#handleError(attempt: Attempt, event: ErrorEvent, begun: boolean): Events {
    const { plan, now, options } = this.#setup;
    const { error, partial } = event;
    if (begun && error.emitted && wasShown(options)) {
      yield event;
      return undefined;
    }
    if (begun) plan.alive(now());
    const step = plan.after(attempt, error, partial.usage, now());
    if (step !== undefined) {
      yield { type: "attempt", failure: step.failure, next: step.next, discard: begun ? true : undefined };
      return step;
    }
    const { api, provider, id: model } = attempt.model;
    if (!begun) yield { type: "start", request: { api, provider, model }, warnings: [] };
    const summary = summarize(error, plan.failures);
    yield { type: "error", error: summary, partial: { ...partial, error: summary } };
    return undefined;
  }

  async #wait(ms: number): Promise<boolean> {
    const { sleep, options } = this.#setup;
    const signals = [this.#leaving.signal, options.signal].filter((signal) => signal !== undefined);
    try {
      await sleep(ms, AbortSignal.any(signals));
      return true;
    } catch {
      return false;
    }
  }

  #redacted({ error, partial }: ErrorEvent): ErrorEvent {
    const message = this.#setup
      .redact(error.message.slice(0, MAX_REDACTED_LENGTH))
      .slice(0, MAX_MESSAGE_LENGTH);
    const redacted = { ...error, message };
    return { type: "error", error: redacted, partial: { ...partial, error: redacted } };
  }
}

/** Returns the last failure with a message that lists all attempts. Equal ones are listed only once. */
function summarize(error: ModelErrorData, failures: readonly AttemptFailure[]): ModelErrorData {
  if (failures.length < 2) return { ...error, attempts: failures };
  const alike = Map.groupBy(
    failures,
    ({ provider, model, key, message }) => `${provider}/${model} (${key}): ${message}`,
  );
  const each = [...alike].map(([text, { length }]) => (length === 1 ? text : `${text} (${length} times)`));
  const message = `All ${failures.length} attempts failed. ${each.join("; ")}`;
  return { ...error, message, attempts: failures };
}

/** Delivered text counts as seen unless the caller reports otherwise. */
function wasShown({ shown }: StreamOptions): boolean {
  try {
    return shown?.() !== false;
  } catch {
    return true;
  }
}
