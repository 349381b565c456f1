import type { AgentLoopConfig, AgentOptions } from "./config.ts";
import type { ToolCallBlock } from "./content.ts";
import { Conversation } from "./conversation/conversation.ts";
import { unansweredCalls } from "./conversation/pending.ts";
import { AgentError } from "./errors.ts";
import { ViewQueue } from "./event-queue.ts";
import type { AgentEvent, EmitEvent, RunResult } from "./events.ts";
import type { OnPendingCall } from "./hooks.ts";
import { keepRunShapes, NOTHING_TO_RUN } from "./loop/exemplars.ts";
import { failed } from "./loop/result.ts";
import { Run } from "./loop/run.ts";
import { texts } from "./loop/texts.ts";
import type { AgentMessage } from "./messages.ts";
import { keepShapes } from "./shapes.ts";
import { Snapshot } from "./snapshot.ts";

/** A text is short for a user message of it. */
export type AgentInput = string | AgentMessage | readonly AgentMessage[];

/** What an agent is at this moment. */
export interface AgentState {
  /** The conversation. A copy. */
  readonly messages: readonly AgentMessage[];
  readonly running: boolean;
  /** Queued messages. */
  readonly steering: readonly AgentMessage[];
  readonly followUps: readonly AgentMessage[];
  /** Calls the conversation ends in that have no result. */
  readonly pending: readonly ToolCallBlock[];
}

/** Watches an agent. A promise holds the run up until it is settled; a throw is reported and changes nothing. */
export type AgentListener = EmitEvent;

export interface EventsOptions {
  /** Events a viewer may be behind before it gets `lagged` in their place; default 1,024. */
  readonly capacity?: number;
}

/** A conversation with an agent: keeps the history and the queues, and has at most one run at a time. */
export class Agent {
  #options: AgentOptions;
  #config: AgentLoopConfig;
  #conversation: Conversation;
  #run: Run | undefined;
  #running: Promise<unknown> | undefined;
  #steering: AgentMessage[] = [];
  #followUps: AgentMessage[] = [];
  #listeners: readonly EmitEvent[] = [];
  /** Calls the last run left waiting for a decision: they were never begun. */
  #waiting: Set<string> | undefined;
  readonly #snapshot = new Snapshot();

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#config = this.#configFor(options);
    this.#conversation = new Conversation(options.messages ?? []);
    if (!kept) keepAgentShapes();
  }

  /** A new one each time. */
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

  /** The model turn that is streaming, as far as it has come; empty between turns. */
  get streaming(): Snapshot {
    return this.#snapshot;
  }

  /**
   * Starts a run.
   * @throws AgentError `busy` while another is going on, and as `AgentRun.result`
   */
  prompt(input: AgentInput): Promise<RunResult> {
    // As `#messages` has it, in place: most programs make many short runs, each of a text.
    const messages =
      typeof input === "string"
        ? [{ role: "user", content: input, timestamp: (this.#options.now ?? Date.now)() } as const]
        : this.#messages(input);
    if (messages.length > 0) return this.#execute(messages);
    return Promise.reject(new AgentError("invalid_input", "A prompt needs a message."));
  }

  /**
   * Goes on from the end of the conversation: after an interruption, a limit, an error, or once a decision is known.
   * @throws AgentError `busy`, `nothing_to_continue`, and as `AgentRun.result`
   */
  continue(): Promise<RunResult> {
    return this.#execute([]);
  }

  /** Has a say in the run that is going on: before the next call or model turn. Kept for the next run when idle. */
  steer(input: AgentInput): void {
    this.#steering.push(...this.#messages(input));
  }

  /** Has something done once the agent would stop. Kept for the next run when idle. */
  followUp(input: AgentInput): void {
    this.#followUps.push(...this.#messages(input));
  }

  /** Takes back what is queued. */
  clearQueues(): { readonly steering: readonly AgentMessage[]; readonly followUps: readonly AgentMessage[] } {
    const cleared = { steering: this.#steering, followUps: this.#followUps };
    this.#steering = [];
    this.#followUps = [];
    return cleared;
  }

  /** Stops the run, if there is one; `waitForIdle` says when it has. What is queued stays. */
  abort(reason?: unknown): void {
    this.#run?.stop.abort(reason);
  }

  /** Resolves when no run is going on, however the last one ended. */
  async waitForIdle(): Promise<void> {
    while (this.#running !== undefined) {
      await this.#running.catch(() => {});
    }
  }

  /** Summarises the older part of the conversation now. Resolves with whether there was something to gain. */
  async compact(): Promise<boolean> {
    const compacting = this.#begin().compact();
    this.#running = compacting;
    try {
      return await compacting;
    } finally {
      this.#running = undefined;
      this.#run = undefined;
    }
  }

  /** Changes how the next run behaves. */
  configure(options: Partial<Omit<AgentOptions, "messages">>): void {
    this.#options = { ...this.#options, ...options };
    this.#config = this.#configFor(this.#options);
  }

  /** Starts another conversation; nothing of the last one is kept, its queues included. @throws AgentError `busy` */
  reset(messages: readonly AgentMessage[] = []): void {
    if (this.#run !== undefined) throw busy();
    this.#conversation = new Conversation(messages);
    this.#waiting = undefined;
    this.clearQueues();
  }

  /** Calls `listener` with every event from now on; returns what takes it back. */
  subscribe(listener: AgentListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /**
   * Every event from now on, until the iteration is left. It never holds the run up: for a viewer that is too slow
   * deltas are joined, and in the end events are left out and `lagged` says how many.
   */
  events(options: EventsOptions = {}): AsyncIterableIterator<AgentEvent> {
    const queue = new ViewQueue(options.capacity, () => unsubscribe());
    const unsubscribe = this.subscribe((event) => queue.push(event));
    return {
      next: () => queue.next(),
      return: () => queue.return(),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** @throws AgentError `busy`, `invalid_tool` */
  #begin(): Run {
    if (this.#run !== undefined) throw busy();
    const { system, tools = NO_TOOLS } = this.#options;
    this.#run = new Run(this.#conversation, { system, tools }, this.#config, this.#emit, this.#snapshot);
    return this.#run;
  }

  #execute(input: readonly AgentMessage[]): Promise<RunResult> {
    try {
      const running = this.#begin().execute(input, this.#onEnd);
      // Input that is refused is over already.
      if (this.#run !== undefined) this.#running = running;
      return running;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #onEnd = (result: RunResult | undefined): void => {
    if (result !== undefined && (result.pending.length > 0 || this.#waiting !== undefined)) {
      this.#waiting = new Set(result.pending.map((call) => call.id));
    }
    this.#running = undefined;
    this.#run = undefined;
  };

  #settlePending: OnPendingCall = ({ call, newInput }) => {
    // Once it may run it is no longer known to be unbegun, whatever becomes of this run.
    if (this.#waiting?.delete(call.id) !== true) return undefined;
    return newInput ? { action: "result", result: failed(texts.superseded) } : { action: "run" };
  };

  #configFor(options: AgentOptions): AgentLoopConfig {
    return {
      ...options,
      steering: this.#takeSteering,
      followUps: this.#takeFollowUps,
      onPendingCall: options.onPendingCall ?? this.#settlePending,
    };
  }

  #takeSteering = (): readonly AgentMessage[] =>
    this.#steering.length === 0 ? NOTHING : take(this.#steering, this.#options.steeringMode ?? "all");

  #takeFollowUps = (): readonly AgentMessage[] =>
    this.#followUps.length === 0 ? NOTHING : take(this.#followUps, this.#options.followUpMode ?? "one");

  #messages(input: AgentInput): readonly AgentMessage[] {
    if (typeof input !== "string") return "role" in input ? [input] : input;
    return [{ role: "user", content: input, timestamp: (this.#options.now ?? Date.now)() }];
  }

  // The usual single listener comes first, as every delta goes through here.
  #emit = (event: AgentEvent): void | Promise<void> => {
    const listeners = this.#listeners;
    const only = listeners[0];
    if (only === undefined) return;
    if (listeners.length === 1) {
      try {
        const wait = only(event);
        if (wait === undefined) return;
        return this.#settled(wait);
      } catch (error) {
        this.#report(error);
        return;
      }
    }
    let waits: Promise<void>[] | undefined;
    for (let i = 0; i < listeners.length; i++) {
      try {
        const wait = this.#settled(listeners[i]?.(event));
        if (wait === undefined) continue;
        waits ??= [];
        waits.push(wait);
      } catch (error) {
        this.#report(error);
      }
    }
    if (waits !== undefined) return Promise.all(waits).then(() => {});
  };

  /** A listener written without types may give anything. */
  #settled(wait: unknown): void | Promise<void> {
    if (wait instanceof Promise) return wait.catch((error: unknown) => this.#report(error));
  }

  #report(error: unknown): void {
    const { onListenerError } = this.#options;
    if (onListenerError === undefined) console.error(error);
    else onListenerError(error);
  }
}

const NOTHING: readonly AgentMessage[] = [];

/** Never the queue itself, which goes on filling. */
function take(queue: AgentMessage[], mode: "all" | "one"): readonly AgentMessage[] {
  return queue.splice(0, mode === "one" ? 1 : queue.length);
}

const NO_TOOLS: AgentOptions["tools"] & object = [];

function busy(): AgentError {
  return new AgentError(
    "busy",
    "The agent is at work. Use steer() or followUp(), or wait for it with waitForIdle().",
  );
}

let kept = false;

function keepAgentShapes(): void {
  kept = true;
  keepShapes(new Agent({ ...NOTHING_TO_RUN, system: { stable: "" } }));
  keepRunShapes();
}
