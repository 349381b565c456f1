import { AgentRun, type StartRun } from "./agent-run.ts";
import type { AgentLoopConfig, AgentOptions } from "./config.ts";
import type { ToolCallBlock } from "./content.ts";
import { Conversation } from "./conversation/conversation.ts";
import { unansweredCalls } from "./conversation/tool-calls.ts";
import { AgentError } from "./errors.ts";
import { ViewQueue } from "./event-queue.ts";
import type { AgentEvent, EmitEvent, Queued, RunResult } from "./events.ts";
import type { PendingCall, PendingDecision } from "./hooks.ts";
import { Run } from "./loop/agent-loop.ts";
import { checkInput } from "./loop/run-state.ts";
import { texts } from "./loop/texts.ts";
import { failed } from "./loop/tool-result.ts";
import type { AgentMessage } from "./messages.ts";
import { Snapshot } from "./snapshot.ts";

/** A text is short for a user message with that text. */
export type AgentInput = string | AgentMessage | readonly AgentMessage[];

/** The current state of an agent. */
export interface AgentState extends Queued {
  readonly messages: readonly AgentMessage[];
  readonly running: boolean;
  /** Open calls at the end of the conversation. */
  readonly pending: readonly ToolCallBlock[];
}

/**
 * A conversation with an agent: keeps the history and the queues, and has at most one run at a time. A host that stores
 * conversations itself, and starts a new run over what it loads, uses `runAgentLoop` instead.
 */
export class Agent {
  #options: AgentOptions;
  #conversation: Conversation;
  #run: Run | undefined;
  #idle: PromiseWithResolvers<void> = Promise.withResolvers();
  #steering: AgentMessage[] = [];
  #followUps: AgentMessage[] = [];
  #listeners: readonly EmitEvent[] = [];
  /** Calls the last run left waiting for a decision: they were never begun. */
  #undecided: Set<string> | undefined;
  readonly #snapshot = new Snapshot();

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#conversation = new Conversation(options.messages ?? []);
  }

  /** A new copy each time. */
  get state(): AgentState {
    const { messages } = this.#conversation;
    return {
      messages: [...messages],
      running: this.#run !== undefined,
      steering: [...this.#steering],
      followUps: [...this.#followUps],
      pending: unansweredCalls(messages)?.calls ?? [],
    };
  }

  /** The model turn that is streaming, as far as it has come at this moment; empty between turns. */
  get streaming(): Pick<Snapshot, "blocks" | "text"> {
    const { blocks, text } = this.#snapshot;
    return { blocks, text };
  }

  /**
   * Starts a run: iterate it for its events, or await it for its result.
   * @throws AgentError (the run does) `busy` while another is going on, and as `AgentRun.result`
   */
  prompt(input: AgentInput): AgentRun {
    const messages = this.#messages(input);
    if (messages.length > 0) return this.#start(messages);
    return begun(() => Promise.reject(new AgentError("invalid_input", "A prompt needs a message.")));
  }

  /**
   * Continues from the end of the conversation: after an interruption, a limit, an error, or once a decision is known.
   * @throws AgentError (the run does) `busy`, `nothing_to_continue`, and as `AgentRun.result`
   */
  continue(): AgentRun {
    return this.#start([]);
  }

  /**
   * Adds a message to the current run, before the next call or model turn. When idle, it waits for the next run.
   * @throws AgentError `invalid_input`
   */
  steer(input: AgentInput): void {
    this.#steering.push(...checkInput(this.#messages(input)));
  }

  /**
   * Adds a message for when the agent would stop. When idle, it waits for the next run.
   * @throws AgentError `invalid_input`
   */
  followUp(input: AgentInput): void {
    this.#followUps.push(...checkInput(this.#messages(input)));
  }

  /** Removes everything from the queues. */
  clearQueues(): Queued {
    const cleared = { steering: this.#steering, followUps: this.#followUps };
    this.#steering = [];
    this.#followUps = [];
    return cleared;
  }

  /** Stops the run, if there is one; `waitForIdle` resolves when it has stopped. Queued messages stay. */
  abort(reason?: unknown): void {
    this.#run?.abort(reason);
  }

  /** Resolves when no run is going on, however the last one ended. */
  async waitForIdle(): Promise<void> {
    while (this.#run !== undefined) await this.#idle.promise;
  }

  /**
   * Summarises the older part of the conversation now. Resolves with whether that gained anything; with `false` where
   * `context.compaction` is `false`.
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

  /** Changes how the next run behaves. Who is told of listeners' errors changes at once. */
  configure(options: Partial<Omit<AgentOptions, "messages">>): void {
    this.#options = { ...this.#options, ...options };
  }

  /**
   * Starts another conversation. Nothing of the last one is kept, not even its queues.
   * @throws AgentError `busy`
   */
  reset(messages: readonly AgentMessage[] = []): void {
    this.#refuseBusy();
    this.#conversation = new Conversation(messages);
    this.#undecided = undefined;
    this.clearQueues();
  }

  /**
   * Calls `listener` with every event from now on. Returns a function that removes it. A promise delays the run until
   * it settles; an exception is reported and changes nothing.
   */
  subscribe(listener: EmitEvent): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /**
   * Every event from now on, until the iteration is left. It never holds the run up: for a viewer that is too slow,
   * deltas are joined, and finally, `capacity` events behind (default 1,024), events are left out and `lagged` says how
   * many. The last `run.end` is never left out.
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
    const remedy = "Use steer() or followUp(), or wait for it with waitForIdle().";
    throw new AgentError("busy", `The agent is at work. ${remedy}`);
  }

  #start(input: readonly AgentMessage[]): AgentRun {
    try {
      const run = this.#begin();
      return begun((emit, signal) => {
        signal.addEventListener("abort", () => run.abort(signal.reason));
        return this.#execute(run, input, emit);
      });
    } catch (error) {
      return begun(() => Promise.reject(error));
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

  readonly #settlePending = ({ call, newInput }: PendingCall): PendingDecision | undefined => {
    // Once it may run nobody can tell any more whether it began, whatever becomes of this run.
    if (this.#undecided?.delete(call.id) !== true) return undefined;
    return newInput ? { action: "result", result: failed(texts.superseded) } : { action: "run" };
  };

  #config(): AgentLoopConfig {
    return {
      ...this.#options,
      steering: () => this.#steering.splice(0),
      // One after the other is answered.
      followUps: () => this.#followUps.splice(0, 1),
      onPendingCall: this.#options.onPendingCall ?? this.#settlePending,
    };
  }

  #messages(input: AgentInput): readonly AgentMessage[] {
    if (typeof input !== "string") return "role" in input ? [input] : input;
    return [{ role: "user", content: input, timestamp: (this.#options.now ?? Date.now)() }];
  }

  readonly #emit: EmitEvent = (event) => {
    if (event.type === "run.end" && event.result.failure !== undefined) {
      const { steering, followUps } = event.result.failure.unkept;
      this.#steering.unshift(...steering);
      this.#followUps.unshift(...followUps);
    }
    const waits: Promise<void>[] = [];
    for (const listener of this.#listeners) {
      const wait = this.#tell(listener, event);
      if (wait !== undefined) waits.push(wait);
    }
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
  };

  #tell(listener: EmitEvent, event: AgentEvent): Promise<void> | undefined {
    try {
      // A listener written without types may give anything.
      const wait: unknown = listener(event);
      return wait instanceof Promise ? wait.catch(this.#report) : undefined;
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  readonly #report = (error: unknown): void => (this.#options.onListenerError ?? console.error)(error);
}

/** A run that begins by itself once the caller has had time to iterate it. */
function begun(start: StartRun): AgentRun {
  const run = new AgentRun(start);
  queueMicrotask(() => void run.result());
  return run;
}
