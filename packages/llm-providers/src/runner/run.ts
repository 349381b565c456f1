import type {
  AssistantMessage,
  ModelErrorData,
  ModelEvent,
  StreamModel,
  StreamOptions,
} from "@signalbox/agent-core";
import { failure } from "../stream/errors.ts";
import type { Attempt, AttemptPlan, Step } from "./plan.ts";

type Result = IteratorResult<ModelEvent, undefined>;

/** Waits, or rejects as soon as the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export interface RunSetup {
  readonly plan: AttemptPlan;
  /** Opens the stream of one attempt, which may be silent for so long; its own default where that is absent. */
  readonly open: (attempt: Attempt, silenceMs: number | undefined) => ReturnType<StreamModel>;
  readonly options: StreamOptions;
  readonly now: () => number;
  readonly sleep: Sleep;
  /** What the stream says where there is nobody to ask. */
  readonly nobody: ModelErrorData;
}

interface Failed {
  readonly error: ModelErrorData;
  readonly partial: AssistantMessage;
}

/**
 * One request with its retries, keys and fallbacks as a single event stream. Events are held back until something is
 * said (text or thinking) or the turn ends, so a failure before that leaves no trace but its `attempt` event. From
 * the first delta on, the attempt's own stream is handed through as it is; where it then breaks, and the caller says
 * that nobody has seen any of it, an `attempt` event voids it and another follows.
 */
export class Run implements AsyncIterableIterator<ModelEvent, undefined> {
  readonly #setup: RunSetup;
  readonly #closing = new AbortController();
  #queue: ModelEvent[] = [];
  #head = 0;
  #attempt: Attempt | undefined;
  #delayMs = 0;
  #inner: AsyncIterator<ModelEvent> | undefined;
  #passing = false;
  #done = false;
  #advancing: Promise<void> | undefined;

  constructor(setup: RunSetup) {
    this.#setup = setup;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    const event = this.#queue[this.#head];
    if (event !== undefined) {
      this.#head++;
      if (this.#head === this.#queue.length) {
        this.#queue = [];
        this.#head = 0;
      }
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#done) return Promise.resolve({ done: true, value: undefined });
    if (this.#passing && this.#inner !== undefined) return this.#pass(this.#inner);
    this.#advancing ??= this.#advance().finally(() => {
      this.#advancing = undefined;
    });
    return this.#advancing.then(() => this.next());
  }

  #pass(inner: AsyncIterator<ModelEvent>): Promise<Result> {
    // Nothing is looked at where nothing can follow.
    if (this.#setup.options.shown === undefined) return inner.next();
    return inner.next().then((result) => {
      // Who asked before the attempt broke is served by the next one.
      if (inner !== this.#inner || !this.#passing) return this.next();
      return result.done !== true && result.value.type === "error" ? this.#broke(result.value) : result;
    });
  }

  /** An attempt failed after it had said something. */
  #broke(event: Extract<ModelEvent, { type: "error" }>): Result {
    const { plan, now, options } = this.#setup;
    const attempt = this.#attempt;
    if (attempt === undefined || wasShown(options.shown)) return { done: false, value: event };
    const { error, partial } = event;
    plan.alive(now());
    const step = plan.after(attempt, { ...error, emitted: false }, partial.usage, now());
    if (step === undefined) {
      const said = this.#summary(error);
      return { done: false, value: { type: "error", error: said, partial: { ...partial, error: said } } };
    }
    this.#go(step);
    return { done: false, value: { type: "attempt", failure: step.failure, next: step.next, discard: true } };
  }

  #go(step: Step): void {
    this.#attempt = step.attempt;
    this.#delayMs = step.next.delayMs;
    this.#passing = false;
    this.#inner = undefined;
  }

  async return(): Promise<Result> {
    this.#done = true;
    this.#queue = [];
    this.#head = 0;
    this.#closing.abort();
    await this.#inner?.return?.();
    return { done: true, value: undefined };
  }

  /** Goes on until there is something to hand out: a failed attempt too, before whatever wait follows it. */
  async #advance(): Promise<void> {
    const { plan, now, nobody } = this.#setup;
    this.#attempt ??= plan.first(now());
    const attempt = this.#attempt;
    if (attempt === undefined) {
      this.#end(nobody, undefined);
      return;
    }
    if (this.#delayMs > 0 && !(await this.#wait(this.#delayMs))) return;
    const failed = await this.#try(attempt);
    if (failed === undefined) return;
    const step = plan.after(attempt, failed.error, failed.partial.usage, now());
    if (step === undefined) {
      this.#end(this.#summary(failed.error), failed.partial);
      return;
    }
    this.#go(step);
    this.#queue.push({ type: "attempt", failure: step.failure, next: step.next });
  }

  async #wait(ms: number): Promise<boolean> {
    const { sleep, options } = this.#setup;
    const signal =
      options.signal === undefined
        ? this.#closing.signal
        : AbortSignal.any([options.signal, this.#closing.signal]);
    try {
      await sleep(ms, signal);
      return !this.#done;
    } catch {
      this.#end({ ...failure("aborted", "The request was aborted."), emitted: false }, undefined);
      return false;
    }
  }

  /** Reads an attempt up to its first shown delta or its finish (handed out) or its failure (returned). */
  async #try(attempt: Attempt): Promise<Failed | undefined> {
    const { open, now, plan } = this.#setup;
    const inner = open(attempt, plan.silenceMs(attempt, now()))[Symbol.asyncIterator]();
    this.#inner = inner;
    const held: ModelEvent[] = [];
    for (;;) {
      const result = await inner.next();
      if (this.#done) return undefined;
      if (result.done === true) {
        const error = {
          ...failure("protocol", "The provider's stream ended without a word."),
          emitted: false,
        };
        return { error, partial: emptyMessage(attempt, error, now()) };
      }
      const event = result.value;
      if (event.type === "error" && !event.error.emitted) return event;
      if (event.type !== "start" && event.type !== "error") plan.alive(now());
      held.push(event);
      const shown = event.type === "text.delta" || event.type === "thinking.delta";
      if (shown || event.type === "finish" || event.type === "error") {
        if (event.type !== "error") attempt.ring.worked(attempt.key);
        this.#queue = this.#head === this.#queue.length ? held : [...this.#queue.slice(this.#head), ...held];
        this.#head = 0;
        this.#passing = true;
        return undefined;
      }
    }
  }

  #summary(error: ModelErrorData): ModelErrorData {
    const { failures } = this.#setup.plan;
    if (failures.length < 2) return { ...error, attempts: failures };
    const said = failures.map(
      (one) => `${one.provider}/${one.model} (${one.key ?? "no key"}): ${one.message}`,
    );
    return {
      ...error,
      message: `All ${failures.length} attempts failed. ${said.join("; ")}`,
      attempts: failures,
    };
  }

  #end(error: ModelErrorData, partial: AssistantMessage | undefined): void {
    if (this.#done) return;
    const message = partial ?? emptyMessage(this.#attempt, error, this.#setup.now());
    const { api, provider, model } = message;
    this.#queue.push(
      { type: "start", request: { api, provider, model }, warnings: [] },
      { type: "error", error, partial: { ...message, error } },
    );
    this.#done = true;
  }
}

/** What was delivered counts as seen unless the caller knows better. */
function wasShown(shown: (() => boolean) | undefined): boolean {
  try {
    return shown?.() !== false;
  } catch {
    return true;
  }
}

function emptyMessage(attempt: Attempt | undefined, error: ModelErrorData, now: number): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: attempt?.model.api ?? "",
    provider: attempt?.model.provider ?? "",
    model: attempt?.model.id ?? "",
    stopReason: error.code === "aborted" ? "aborted" : "error",
    error,
    timestamp: now,
  };
}
