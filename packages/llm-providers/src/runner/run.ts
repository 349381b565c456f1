import type {
  AssistantMessage,
  ModelErrorData,
  ModelEvent,
  ModelIterator,
  ModelStream,
  StreamOptions,
} from "@signalbox/agent-core";
import { failure } from "../stream/errors.ts";
import { brokenMessage, guarded } from "./guard.ts";
import type { Attempt, AttemptPlan, Step } from "./plan.ts";

type Result = IteratorResult<ModelEvent, undefined>;
type Look = (result: IteratorResult<ModelEvent>) => Result | Promise<Result>;

/** Waits, or rejects as soon as the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export interface RunSetup {
  readonly plan: AttemptPlan;
  /** Opens the stream of one attempt, which may be silent for so long; its own default where that is absent. */
  readonly open: (attempt: Attempt, silenceMs: number | undefined) => ModelStream;
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
 * One request with its retries, keys and fallbacks as a single event stream. An attempt's `start` and usage are held
 * back until its first block, so a failure before that leaves no trace but its `attempt` event. From the first block on,
 * events go through as they come. Where the attempt then breaks, and it had said nothing yet (a tool call is nothing
 * said), or the caller says that nobody has seen any of it, an `attempt` event voids it and another follows.
 */
export class Run implements ModelStream, ModelIterator {
  readonly #setup: RunSetup;
  readonly #closing = new AbortController();
  #queue: ModelEvent[] = [];
  #head = 0;
  #attempt: Attempt | undefined;
  #delayMs = 0;
  #inner: ModelIterator | undefined;
  #passing = false;
  /** Text or thinking was delivered, and nobody can say that it was not seen: nothing can follow this attempt. */
  #final = false;
  #look: Look = () => this.next();
  #done = false;
  #advancing: Promise<void> | undefined;

  constructor(setup: RunSetup) {
    this.#setup = setup;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  nextReady(): ModelEvent | undefined {
    const queued = this.#shift();
    if (queued !== undefined || this.#done || !this.#passing) return queued;
    const event = this.#inner?.nextReady?.();
    return event === undefined || this.#final ? event : this.#seen(event);
  }

  next(): Promise<Result> {
    const event = this.#shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#done) return Promise.resolve({ done: true, value: undefined });
    if (this.#passing && this.#inner !== undefined) return this.#pass(this.#inner);
    this.#advancing ??= this.#advance().finally(() => {
      this.#advancing = undefined;
    });
    return this.#advancing.then(() => this.next());
  }

  #shift(): ModelEvent | undefined {
    const event = this.#queue[this.#head];
    if (event === undefined) return undefined;
    this.#head++;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    }
    return event;
  }

  #pass(inner: ModelIterator): Promise<Result> {
    // Nothing is looked at where nothing can follow.
    return this.#final ? inner.next() : inner.next().then(this.#look);
  }

  /** Made once for each attempt, as nearly all events are deltas. */
  #lookAt(inner: ModelIterator): Look {
    return (result) => {
      // Who asked before the attempt broke is served by the next one.
      if (inner !== this.#inner || !this.#passing) return this.next();
      if (result.done === true) return { done: true, value: undefined };
      return { done: false, value: this.#seen(result.value) };
    };
  }

  /** An event of the attempt that goes on, or what is made of it where the attempt broke. */
  #seen(event: ModelEvent): ModelEvent {
    if (event.type === "error") return this.#broke(event);
    if (says(event)) this.#said();
    return event;
  }

  #said(): void {
    this.#final = this.#setup.options.shown === undefined;
  }

  /** An attempt failed after some of it was delivered. */
  #broke(event: Extract<ModelEvent, { type: "error" }>): ModelEvent {
    const { plan, now, options } = this.#setup;
    const attempt = this.#attempt;
    const { error, partial } = event;
    if (attempt === undefined || (error.emitted && wasShown(options.shown))) return event;
    plan.alive(now());
    const step = plan.after(attempt, { ...error, emitted: false }, partial.usage, now());
    if (step === undefined) {
      const said = this.#summary(error);
      return { type: "error", error: said, partial: { ...partial, error: said } };
    }
    this.#go(step);
    return { type: "attempt", failure: step.failure, next: step.next, discard: true };
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

  /** Reads an attempt up to its first block or its finish (handed out) or its failure (returned). */
  async #try(attempt: Attempt): Promise<Failed | undefined> {
    const { open, now, plan, options } = this.#setup;
    const inner = guarded(
      () => open(attempt, plan.silenceMs(attempt, now())),
      attempt.model,
      options.signal,
      now,
    );
    this.#inner = inner;
    this.#look = this.#lookAt(inner);
    const held: ModelEvent[] = [];
    for (;;) {
      const result = await inner.next();
      if (this.#done) return undefined;
      if (result.done === true) {
        const error = {
          ...failure("protocol", "The provider's stream ended without a word."),
          emitted: false,
        };
        return { error, partial: brokenMessage(attempt.model, error, now()) };
      }
      const event = result.value;
      if (event.type === "error" && !event.error.emitted) return event;
      if (event.type !== "start" && event.type !== "error") plan.alive(now());
      held.push(event);
      if (event.type !== "start" && event.type !== "usage") {
        if (says(event)) this.#said();
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
    const message = partial ?? brokenMessage(this.#attempt?.model, error, this.#setup.now());
    const { api, provider, model } = message;
    this.#queue.push(
      { type: "start", request: { api, provider, model }, warnings: [] },
      { type: "error", error, partial: { ...message, error } },
    );
    this.#done = true;
  }
}

/** Text or thinking: what a person may have seen. */
function says(event: ModelEvent): boolean {
  return event.type === "text.delta" || event.type === "thinking.delta";
}

/** What was delivered counts as seen unless the caller knows better. */
function wasShown(shown: (() => boolean) | undefined): boolean {
  try {
    return shown?.() !== false;
  } catch {
    return true;
  }
}
