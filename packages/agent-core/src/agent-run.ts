import type { AgentContext, AgentLoopConfig } from "./config.ts";
import { AgentError } from "./errors.ts";
import { RunQueue } from "./event-queue.ts";
import type { AgentEvent, EmitEvent, RunResult } from "./events.ts";
import { runAgentLoop } from "./loop/agent-loop.ts";

/** Begins a run that passes its events to `emit` and ends early when `signal` aborts. */
export type StartRun = (emit: EmitEvent, signal: AbortSignal) => Promise<RunResult>;

/**
 * One run: iterate it for its events, or await it for its result. Events are pulled: a run that is 256 events ahead
 * waits, and leaving the iteration early aborts it. Without an iteration no events are kept.
 */
export class AgentRun implements AsyncIterable<AgentEvent>, PromiseLike<RunResult> {
  readonly #start: StartRun;
  readonly #controller = new AbortController();
  #emit: EmitEvent = () => {};
  #result: Promise<RunResult> | undefined;

  constructor(start: StartRun) {
    this.#start = start;
  }

  /**
   * How the run ended. Begins the run if it has not begun.
   * @throws AgentError when the input is wrong, there is nothing to do, or a hook of the host failed
   */
  result(): Promise<RunResult> {
    this.#result ??= this.#start((event) => this.#emit(event), this.#controller.signal);
    return this.#result;
  }

  // biome-ignore lint/suspicious/noThenProperty: to await a run is to wait for its result.
  then<A = RunResult, B = never>(
    onResult?: ((result: RunResult) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result().then(onResult, onError);
  }

  /** @throws AgentError `busy` when the run has begun without being watched, or is being iterated already */
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    if (this.#result !== undefined) {
      throw new AgentError("busy", "This run has begun; its events can be read once, from the start.");
    }
    const queue = new RunQueue(() => this.#controller.abort(new Error("Nobody reads the events any more.")));
    this.#emit = (event) => queue.push(event);
    this.result().then(
      () => queue.close(),
      (error: unknown) => queue.close({ error }),
    );
    return queue;
  }
}

/**
 * Runs an agent over a conversation: context in, events out, nothing kept. Without `input` it continues from the end of
 * the history, whose open calls are settled first. The run begins when its events or its result are requested.
 */
export function agentLoop(context: AgentContext, config: AgentLoopConfig): AgentRun {
  return new AgentRun((emit, signal) => {
    const either = config.signal === undefined ? signal : AbortSignal.any([config.signal, signal]);
    return runAgentLoop(context, { ...config, signal: either }, emit);
  });
}
