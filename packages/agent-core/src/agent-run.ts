import type { AgentContext, AgentLoopConfig } from "./config.ts";
import { AgentError } from "./errors.ts";
import { RunQueue } from "./event-queue.ts";
import type { AgentEvent, EmitEvent, RunResult } from "./events.ts";
import { runAgentLoop } from "./loop/agent-loop.ts";

/** Starts a run that passes its events to `emit` and ends early if `signal` aborts. */
export type StartRun = (emit: EmitEvent, signal: AbortSignal) => Promise<RunResult>;

/**
 * A run. Iterate over it to get its events, or await it to get its result. The run pauses once it is 256 events ahead
 * of its iterator. Leaving the iteration early aborts it. Without an iteration, no events are queued.
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
   * Returns the result of the run. Starts the run if it has not started.
   *
   * @throws AgentError if the input is invalid, there is nothing to do, or a hook of the host failed
   */
  result(): Promise<RunResult> {
    this.#result ??= this.#start((event) => this.#emit(event), this.#controller.signal);
    return this.#result;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a run waits for its result.
  then<A = RunResult, B = never>(
    onResult?: ((result: RunResult) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result().then(onResult, onError);
  }

  /** @throws AgentError `busy` if the run has already started or is being iterated */
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    if (this.#result !== undefined) {
      throw new AgentError(
        "busy",
        "This run has already started. Its events can be read only once, from the start.",
      );
    }
    const queue = new RunQueue(() =>
      this.#controller.abort(new Error("Nobody is reading the events anymore.")),
    );
    this.#emit = (event) => queue.push(event);
    this.result().then(
      () => queue.close(),
      (error: unknown) => queue.close({ error }),
    );
    return queue;
  }
}

/**
 * Runs an agent over a conversation without keeping any state. Without `input` it continues from the end of the
 * history, whose pending calls are completed first. The run starts when its events or its result are requested.
 *
 * @example
 * ```ts
 * const run = agentLoop(
 *   { system: "You help travellers.", history, input: [message], tools },
 *   { model, stream, onJournalEntry: (entry) => save(entry) },
 * );
 * for await (const event of run) if (event.type === "text.delta") process.stdout.write(event.delta);
 * history.push(...(await run).messages);
 * ```
 */
export function agentLoop(context: AgentContext, config: AgentLoopConfig): AgentRun {
  return new AgentRun((emit, signal) => {
    const either = config.signal === undefined ? signal : AbortSignal.any([config.signal, signal]);
    return runAgentLoop(context, { ...config, signal: either }, emit);
  });
}
