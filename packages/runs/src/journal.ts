import {
  type AgentMessage,
  isHarmless,
  type JsonObject,
  type OnStep,
  type Step,
  type ToolCallBlock,
  type ToolEffects,
} from "@signalbox/agent-core";
import type { InboxId, JournalCall, LeaseToken, RunId, ToolIntent } from "@signalbox/store/types";
import type { ConversationStore, JournalStore } from "./store.ts";

export interface JournalOptions {
  readonly store: {
    readonly runs: Pick<JournalStore, "step" | "toolStarted" | "toolResults">;
    readonly sessions: Pick<ConversationStore, "compact">;
  };
  readonly lease: LeaseToken;
  readonly runId: RunId;
  readonly sessionKey: string;
  /** Places of the messages the loop starts from, its input included. */
  readonly places: readonly number[];
  /** Calls that are on record from an earlier process. Default: none. */
  readonly calls?: readonly Pick<JournalCall, "callId" | "state">[];
  readonly effects: (tool: string) => ToolEffects;
  /**
   * What the host keeps of the steering that is about to be committed; it is the run's from then on. Default: nothing.
   */
  readonly takeSteered?: () => readonly InboxId[];
}

/** What a run leaves when it ends by itself. */
export interface RunTail {
  /** The last turn, to be committed together with the end of the run. */
  readonly messages: readonly AgentMessage[];
  /** Places of the whole conversation, the last turn included; `undefined` once it was compacted. */
  readonly places: readonly number[] | undefined;
}

/** Makes the steps of a run durable before the next effect happens. */
export interface Journal {
  readonly onStep: OnStep;
  /** Commits what is held now, since somebody outside is about to hear of it. */
  commit(): Promise<void>;
  /** The run has ended by itself. */
  end(): Promise<RunTail>;
  /** Commits what is held, for a run that does not end now. Writes nothing and throws where an earlier write failed. */
  flush(): Promise<void>;
  /** Nothing is written any more. */
  close(): void;
}

/** How long a turn waits for the results of its calls, in milliseconds, before it is committed without them. */
const RESULTS_WAIT_MS = 100;

/**
 * Some steps wait for the next one to share its commit, since between them nothing happens that could not happen
 * again: a turn whose calls are harmless waits for their results, and the last turn for the end of the run. Any other
 * call is committed as begun before it is made, and its result at once: a model that is asked again makes it under
 * another id.
 */
export function createJournal(options: JournalOptions): Journal {
  return new RunJournal(options);
}

class RunJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #run: { readonly runId: RunId; readonly lease: LeaseToken };
  readonly #places: number[];
  #newest: number;
  #compacted = false;
  /** Messages that wait for the next commit. */
  #pending: AgentMessage[] = [];
  /** Calls that the store knows of. */
  readonly #told: Set<string>;
  /** Calls of the pending turn that have no result yet. */
  readonly #open = new Map<string, ToolIntent>();
  #timer: NodeJS.Timeout | undefined;
  /** A commit nobody has waited for yet. */
  #behind: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#run = { runId: options.runId, lease: options.lease };
    this.#places = [...options.places];
    this.#newest = this.#places.at(-1) ?? 0;
    this.#told = new Set(options.calls?.map(({ callId }) => callId));
  }

  async onStep(step: Step): Promise<void> {
    await this.#settle();
    switch (step.kind) {
      case "input":
        // What the run began with was committed with its beginning.
        if (step.origin === "input") return;
        this.#pending.push(...step.messages);
        return this.#commit(this.#options.takeSteered?.());
      case "assistant":
        this.#pending.push(...step.messages);
        for (const call of step.pendingToolCalls)
          this.#open.set(call.id, intentOf(call, this.#options.effects));
        if (this.#open.size > 0) this.#timer = setTimeout(() => this.#commitBehind(), RESULTS_WAIT_MS);
        return;
      case "toolStart":
        return this.#callStarts(step.call);
      case "toolResult":
        return this.#callEnds(step);
      case "compaction":
        return this.#compact(step);
    }
  }

  async commit(): Promise<void> {
    await this.#settle();
    this.#commitBehind();
    await this.#settle();
  }

  async end(): Promise<RunTail> {
    await this.#settle();
    // Calls without a result have to be told of, or nobody could answer them later.
    if (this.#open.size > 0) await this.#commit();
    const { messages } = this.#take();
    const places = [...this.#places, ...messages.map((_, index) => this.#newest + 1 + index)];
    return { messages, places: this.#compacted ? undefined : places };
  }

  async flush(): Promise<void> {
    await this.#settle();
    await this.#commit();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #callStarts({ id, name }: ToolCallBlock): Promise<void> {
    if (isHarmless(this.#options.effects(name))) return;
    const { messages, intents } = this.#take();
    const start = { ...this.#run, callIds: [id], messages, intents };
    await this.#write(messages, () => this.#options.store.runs.toolStarted(start));
  }

  async #callEnds({ message, messages: results }: Extract<Step, { kind: "toolResult" }>): Promise<void> {
    this.#open.delete(message.toolCallId);
    this.#pending.push(...results);
    if (this.#open.size > 0) return;
    const { messages } = this.#take();
    const callIds = this.#told.has(message.toolCallId) ? [message.toolCallId] : [];
    await this.#write(messages, () =>
      this.#options.store.runs.toolResults({ ...this.#run, callIds, messages }),
    );
  }

  async #compact({ replaced, summary }: Extract<Step, { kind: "compaction" }>): Promise<void> {
    const upTo = this.#places[replaced - 1];
    if (upTo === undefined) return;
    await this.#commit();
    const { store, sessionKey, lease } = this.#options;
    await this.#write([], () => store.sessions.compact(sessionKey, { summary, upTo, lease }));
    this.#places.splice(0, replaced, ++this.#newest);
    this.#compacted = true;
  }

  async #commit(inboxIds?: readonly InboxId[]): Promise<void> {
    if (this.#pending.length === 0) return;
    const { messages, intents } = this.#take();
    await this.#write(messages, () =>
      this.#options.store.runs.step({ ...this.#run, messages, intents, inboxIds }),
    );
  }

  /** A write that fails is the last: one behind it would leave a hole in the conversation. */
  async #write(messages: readonly AgentMessage[], write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
    for (const _ of messages) this.#places.push(++this.#newest);
  }

  #commitBehind(): void {
    this.#timer = undefined;
    // Its failure is met at the next step.
    this.#behind = this.#commit().catch(() => {});
  }

  async #settle(): Promise<void> {
    await this.#behind;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Takes what is pending for a commit. */
  #take(): { readonly messages: AgentMessage[]; readonly intents: ToolIntent[] } {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const messages = this.#pending;
    const intents = [...this.#open.values()];
    for (const { callId } of intents) this.#told.add(callId);
    this.#pending = [];
    this.#open.clear();
    return { messages, intents };
  }
}

function intentOf(call: ToolCallBlock, effects: (tool: string) => ToolEffects): ToolIntent {
  const args: JsonObject = call.args ?? { unreadable: call.argsText };
  return { callId: call.id, name: call.name, args, effects: effects(call.name) };
}
