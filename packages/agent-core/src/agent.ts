import { AgentRun, type StartRun } from "./agent-run.ts";
import type { AgentLoopConfig, AgentOptions } from "./config.ts";
import type { ToolCallBlock } from "./content.ts";
import { Conversation } from "./conversation/conversation.ts";
import { findPendingCalls } from "./conversation/tool-calls.ts";
import { AgentError } from "./errors.ts";
import { ViewQueue } from "./event-queue.ts";
import type { AgentEvent, EmitEvent, QueuedMessages, RunResult } from "./events.ts";
import type { PendingCall, PendingDecision } from "./hooks.ts";
import { Run } from "./loop/agent-loop.ts";
import { checkInput } from "./loop/run-state.ts";
import { texts } from "./loop/texts.ts";
import { failed } from "./loop/tool-result.ts";
import type { AgentMessage } from "./messages.ts";
import { Snapshot } from "./snapshot.ts";

/** A string is shorthand for a user message with that text. */
export type AgentInput = string | AgentMessage | readonly AgentMessage[];

/** The current state of an agent. */
export interface AgentState extends QueuedMessages {
  readonly messages: readonly AgentMessage[];
  readonly running: boolean;
  /** Calls at the end of the conversation that have no result. */
  readonly pending: readonly ToolCallBlock[];
}

/**
 * A conversation with an agent. It keeps the history and the queues, and has at most one run at a time. A host that
 * stores conversations itself uses `runAgentLoop` instead.
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, stream, system: "You help travellers.", tools: [clock] });
 * const { text } = await agent.prompt("What time is it in Tokyo?");
 * ```
 *
 * @example A call that needs approval, and continuing once a person has decided
 * ```ts
 * let approved = false;
 * const agent = new Agent({
 *   model,
 *   stream,
 *   tools: [transfer],
 *   beforeToolCall: ({ call }) =>
 *     approved || call.name !== "transfer" ? undefined : { action: "ask", question: "Transfer the money?" },
 * });
 * const first = await agent.prompt("Pay the invoice.");
 * if (first.reason === "waiting") {
 *   approved = await askPerson(first.pending);
 *   const { text } = await agent.continue();
 * }
 * ```
 */
export class Agent {
  #options: AgentOptions;
  #conversation: Conversation;
  #run: Run | undefined;
  #idle: PromiseWithResolvers<void> = Promise.withResolvers();
  #steering: AgentMessage[] = [];
  #followUps: AgentMessage[] = [];
  #listeners: readonly EmitEvent[] = [];
  /** Calls that the last run left waiting for a decision. They were never started. */
  #undecided: Set<string> | undefined;
  readonly #snapshot = new Snapshot();

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#conversation = new Conversation(options.messages ?? []);
  }

  /** Returns a new copy each time. */
  get state(): AgentState {
    const { messages } = this.#conversation;
    return {
      messages: [...messages],
      running: this.#run !== undefined,
      steering: [...this.#steering],
      followUps: [...this.#followUps],
      pending: findPendingCalls(messages)?.calls ?? [],
    };
  }

  /** The part of the current model turn that has arrived so far. Empty between turns. */
  get streaming(): Pick<Snapshot, "blocks" | "text"> {
    const { blocks, text } = this.#snapshot;
    return { blocks, text };
  }

  /**
   * Starts a run.
   *
   * @throws AgentError (from the run) `busy` if another run is active, and as `AgentRun.result`
   */
  prompt(input: AgentInput): AgentRun {
    const messages = this.#messages(input);
    if (messages.length > 0) return this.#start(messages);
    return startSoon(() => Promise.reject(new AgentError("invalid_input", "A prompt needs a message.")));
  }

  /**
   * Continues from the end of the conversation, for instance after an interruption, a limit, an error or a decision.
   *
   * @throws AgentError (from the run) `busy`, `nothing_to_continue`, and as `AgentRun.result`
   */
  continue(): AgentRun {
    return this.#start([]);
  }

  /**
   * Adds a message to the current run. It is processed before the next call or model turn. If the agent is idle, the
   * message waits for the next run.
   *
   * @throws AgentError `invalid_input`
   */
  steer(input: AgentInput): void {
    this.#steering.push(...checkInput(this.#messages(input)));
  }

  /**
   * Adds a message that is processed when the agent would otherwise stop. If the agent is idle, the message waits for
   * the next run.
   *
   * @throws AgentError `invalid_input`
   */
  followUp(input: AgentInput): void {
    this.#followUps.push(...checkInput(this.#messages(input)));
  }

  /** Empties the queues and returns their messages. */
  clearQueues(): QueuedMessages {
    const cleared = { steering: this.#steering, followUps: this.#followUps };
    this.#steering = [];
    this.#followUps = [];
    return cleared;
  }

  /** Aborts the current run, if any; `waitForIdle` resolves when it has stopped. Queued messages are kept. */
  abort(reason?: unknown): void {
    this.#run?.abort(reason);
  }

  /** Resolves when no run is active. */
  async waitForIdle(): Promise<void> {
    while (this.#run !== undefined) await this.#idle.promise;
  }

  /**
   * Summarizes the older part of the conversation now. Resolves with `true` if that made the conversation shorter, and
   * with `false` if it did not or if `context.compaction` is `false`.
   *
   * @throws AgentError `busy`, `invalid_tool`, `journal_failed`
   */
  async compact(): Promise<boolean> {
    const run = this.#begin();
    try {
      return await run.compact();
    } finally {
      this.#end();
    }
  }

  /** Changes the options of the next run. `onListenerError` takes effect immediately. */
  configure(options: Partial<Omit<AgentOptions, "messages">>): void {
    this.#options = { ...this.#options, ...options };
  }

  /**
   * Starts another conversation. History and queues are discarded.
   *
   * @throws AgentError `busy`
   */
  reset(messages: readonly AgentMessage[] = []): void {
    this.#refuseBusy();
    this.#conversation = new Conversation(messages);
    this.#undecided = undefined;
    this.clearQueues();
  }

  /**
   * Calls `listener` with every event from now on. If the listener returns a promise, the run waits for it. Errors are
   * reported and otherwise ignored.
   *
   * @returns a function that removes the listener
   */
  subscribe(listener: EmitEvent): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /**
   * Iterates over every event from now on. Never delays the run: if a viewer is too slow, deltas are merged. Once the
   * viewer is `capacity` events behind (default 1,024), events are dropped and a `lagged` event reports how many. The
   * last `run.end` is never dropped.
   */
  events({ capacity }: { readonly capacity?: number } = {}): AsyncIterableIterator<AgentEvent> {
    const queue = new ViewQueue(() => unsubscribe(), capacity);
    const unsubscribe = this.subscribe((event) => queue.push(event));
    return queue;
  }

  #begin(): Run {
    this.#refuseBusy();
    const { system = "", tools = [] } = this.#options;
    this.#run = new Run(this.#conversation, { system, tools }, this.#config(), this.#emit, this.#snapshot);
    return this.#run;
  }

  #refuseBusy(): void {
    if (this.#run === undefined) return;
    const remedy = "Use steer() or followUp(), or wait with waitForIdle().";
    throw new AgentError("busy", `The agent already has a run. ${remedy}`);
  }

  #start(input: readonly AgentMessage[]): AgentRun {
    try {
      const run = this.#begin();
      return startSoon((emit, signal) => {
        signal.addEventListener("abort", () => run.abort(signal.reason));
        return this.#execute(run, input, emit);
      });
    } catch (error) {
      return startSoon(() => Promise.reject(error));
    }
  }

  async #execute(run: Run, input: readonly AgentMessage[], emit: EmitEvent): Promise<RunResult> {
    const unsubscribe = this.subscribe(emit);
    try {
      const result = await run.run(input);
      if (result.pending.length > 0 || this.#undecided !== undefined) {
        this.#undecided = new Set(result.pending.map((call) => call.id));
      }
      return result;
    } finally {
      unsubscribe();
      this.#end();
    }
  }

  #end(): void {
    this.#run = undefined;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers();
  }

  readonly #decidePending = ({ call, newInput }: PendingCall): PendingDecision | undefined => {
    // A call that is allowed to run may have started, even if this run fails.
    if (this.#undecided?.delete(call.id) !== true) return undefined;
    return newInput ? { action: "result", result: failed(texts.superseded) } : { action: "run" };
  };

  #config(): AgentLoopConfig {
    return {
      ...this.#options,
      steering: () => this.#steering.splice(0),
      // Each follow-up is answered before the next one.
      followUps: () => this.#followUps.splice(0, 1),
      onPendingCall: this.#options.onPendingCall ?? this.#decidePending,
    };
  }

  #messages(input: AgentInput): readonly AgentMessage[] {
    if (typeof input !== "string") return "role" in input ? [input] : input;
    return [{ role: "user", content: input, timestamp: (this.#options.now ?? Date.now)() }];
  }

  readonly #emit: EmitEvent = (event) => {
    if (event.type === "run.end" && event.result.failure !== undefined) {
      const { steering, followUps } = event.result.failure.unsaved;
      this.#steering.unshift(...steering);
      this.#followUps.unshift(...followUps);
    }
    const waits: Promise<void>[] = [];
    for (const listener of this.#listeners) {
      const wait = this.#notify(listener, event);
      if (wait !== undefined) waits.push(wait);
    }
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
  };

  #notify(listener: EmitEvent, event: AgentEvent): Promise<void> | undefined {
    try {
      // A listener without types may return anything.
      const wait: unknown = listener(event);
      return wait instanceof Promise ? wait.catch(this.#report) : undefined;
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  readonly #report = (error: unknown): void => (this.#options.onListenerError ?? console.error)(error);
}

/** Returns a run that starts on its own after the caller has had time to iterate over it. */
function startSoon(start: StartRun): AgentRun {
  const run = new AgentRun(start);
  queueMicrotask(() => void run.result());
  return run;
}
