import type { ModelContext, ModelErrorData, ModelEvent, StreamOptions } from "@signalbox/agent-core";
import { failure } from "../failure/failure.ts";
import { failedTurn } from "../turn/turn.ts";
import { guarded } from "./guard.ts";
import type { Attempt, AttemptPlan, Step } from "./plan.ts";

/** Of what a vendor says of a failure, in UTF-16 units: some quote the whole request. */
const LONGEST_MESSAGE = 4_000;
/** A secret that begins within the message is seen whole. */
const MOST_READ = 8_000;

/** Waits, or rejects as soon as the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export interface RunSetup {
  readonly plan: AttemptPlan;
  /** Opens the stream of one attempt, which may be silent for so long; its own default where that is absent. */
  readonly open: (attempt: Attempt, silenceMs: number | undefined) => AsyncIterable<ModelEvent>;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly now: () => number;
  readonly sleep: Sleep;
  /** Takes secrets out of what a vendor says. */
  readonly redact: (text: string) => string;
}

/**
 * One request with its retries, keys and fallbacks as one event stream. An attempt's `start` and usage are held back
 * until its first block. If it then breaks before it has said anything (a tool call does not count), or no one has seen
 * any of it, an `attempt` event voids it and another follows.
 */
export function runAttempts(setup: RunSetup): AsyncIterable<ModelEvent> {
  const run = new Run(setup);
  const events = run.events();
  const stream = {
    [Symbol.asyncIterator]: () => stream,
    next: () => events.next(),
    // By itself a generator can be left at its next `yield` only.
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

  /** The consumer has left: everything it waited for is over. */
  leave(): void {
    this.#leaving.abort();
    this.#current?.return?.().catch(() => {});
  }

  async *events(): AsyncGenerator<ModelEvent, undefined> {
    const { plan, now } = this.#setup;
    let attempt: Attempt | undefined = plan.first(now());
    while (attempt !== undefined) {
      const step: Step | undefined = yield* this.#try(attempt);
      attempt = step?.attempt;
      if (step === undefined || step.next.delayMs === 0 || (await this.#wait(step.next.delayMs))) continue;
      yield* failedTurn({ model: step.attempt.model, now }, failure("aborted", "The request was aborted."));
      return;
    }
  }

  /** One attempt, and what follows it; nothing does once it has finished, or failed for good. */
  async *#try(attempt: Attempt): AsyncGenerator<ModelEvent, Step | undefined> {
    const { open, plan, now, context, options } = this.#setup;
    const silenceMs = plan.silenceMs(attempt, now());
    const stream = guarded(() => open(attempt, silenceMs), { model: attempt.model, context, options }, now);
    this.#current = stream[Symbol.asyncIterator]();
    const held: ModelEvent[] = [];
    let begun = false;
    for await (const event of stream) {
      if (event.type === "error") return yield* this.#broke(attempt, this.#redacted(event), begun);
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

  /** @param begun whether some of the attempt was delivered. */
  async *#broke(
    attempt: Attempt,
    event: Extract<ModelEvent, { type: "error" }>,
    begun: boolean,
  ): AsyncGenerator<ModelEvent, Step | undefined> {
    const { plan, now, options } = this.#setup;
    const { error, partial } = event;
    if (begun && error.emitted && wasShown(options)) {
      yield event;
      return undefined;
    }
    if (begun) plan.alive(now());
    const step = plan.after(attempt, { ...error, emitted: false }, partial.usage, now());
    if (step !== undefined) {
      yield { type: "attempt", failure: step.failure, next: step.next, ...(begun ? { discard: true } : {}) };
      return step;
    }
    const { api, provider, id: model } = attempt.model;
    if (!begun) yield { type: "start", request: { api, provider, model }, warnings: [] };
    const summary = this.#summary(error);
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

  #redacted({ error, partial }: Extract<ModelEvent, { type: "error" }>) {
    const message = this.#setup.redact(error.message.slice(0, MOST_READ)).slice(0, LONGEST_MESSAGE);
    const redacted = { ...error, message };
    return { type: "error", error: redacted, partial: { ...partial, error: redacted } } as const;
  }

  #summary(error: ModelErrorData): ModelErrorData {
    const { failures } = this.#setup.plan;
    if (failures.length < 2) return { ...error, attempts: failures };
    const said = failures.map(
      ({ provider, model, key, message }) => `${provider}/${model} (${key ?? "no key"}): ${message}`,
    );
    const message = `All ${failures.length} attempts failed. ${eachOnce(said).join("; ")}`;
    return { ...error, message, attempts: failures };
  }
}

/** Each text at its first place, with how often it was there. */
function eachOnce(texts: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return [...times].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`));
}

/** What was delivered counts as seen unless the caller knows better. */
function wasShown({ shown }: StreamOptions): boolean {
  try {
    return shown?.() !== false;
  } catch {
    return true;
  }
}
