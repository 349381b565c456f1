import {
  type AgentMessage,
  isHarmless,
  type JournalEntry,
  type JsonObject,
  type OnJournalEntry,
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
  /** Sequence numbers of the messages that the loop starts from, including its input. */
  readonly seqs: readonly number[];
  /** Calls that an earlier process recorded. Default: none. */
  readonly calls?: readonly Pick<JournalCall, "callId" | "state">[];
  readonly effects: (tool: string) => ToolEffects;
  /** Returns the inbox ids of the steering messages that are about to be committed. Default: none. */
  readonly takeSteeringIds?: () => readonly InboxId[];
}

/** Messages that remain to be committed when a run ends normally. */
export interface RunTail {
  /** The messages of the last turn. Commit them together with the end of the run. */
  readonly messages: readonly AgentMessage[];
  /** Sequence numbers of the whole conversation, including the last turn. `undefined` after a compaction. */
  readonly seqs: readonly number[] | undefined;
}

/** Makes the entries of a run durable before the next effect. */
export interface Journal {
  readonly onJournalEntry: OnJournalEntry;
  /** Commits all pending entries immediately, before a person or another system sees them. */
  commit(): Promise<void>;
  /** Ends the journal of a run that has ended normally. */
  end(): Promise<RunTail>;
  /** Commits all pending entries for a run that does not end now. Throws without writing if an earlier write failed. */
  flush(): Promise<void>;
  /** Stops pending commits. */
  close(): void;
}

/**
 * Maximum time for which a turn waits for the results of its calls before it is committed without them, in
 * milliseconds.
 */
const RESULTS_WAIT_MS = 100;

/**
 * Creates the journal of a run. Entries share a commit if nothing between them has effects that may not be repeated: a
 * turn with harmless calls waits for their results, and the last turn waits for the end of the run. Any other call is
 * committed as started before it is made, and its result is committed immediately. Otherwise, the model would have to
 * repeat the turn after a crash and would make the call under another id.
 */
export function createJournal(options: JournalOptions): Journal {
  return new RunJournal(options);
}

class RunJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #run: { readonly runId: RunId; readonly lease: LeaseToken };
  readonly #seqs: number[];
  #newest: number;
  #compacted = false;
  /** Messages that are waiting for the next commit. */
  #pending: AgentMessage[] = [];
  /** Ids of calls that are already in the store. */
  readonly #recorded: Set<string>;
  /** Calls of the pending turn that have no result yet. */
  readonly #open = new Map<string, ToolIntent>();
  #timer: NodeJS.Timeout | undefined;
  /** A background commit that has not been awaited yet. */
  #background: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#run = { runId: options.runId, lease: options.lease };
    this.#seqs = [...options.seqs];
    this.#newest = this.#seqs.at(-1) ?? 0;
    this.#recorded = new Set(options.calls?.map(({ callId }) => callId));
  }

  async onJournalEntry(entry: JournalEntry): Promise<void> {
    await this.#awaitBackground();
    switch (entry.kind) {
      case "input":
        // The input of the run was committed together with its start.
        if (entry.origin === "input") return;
        this.#pending.push(...entry.messages);
        return this.#commit(this.#options.takeSteeringIds?.());
      case "assistant":
        this.#pending.push(...entry.messages);
        for (const call of entry.pendingToolCalls)
          this.#open.set(call.id, createIntent(call, this.#options.effects));
        if (this.#open.size > 0) this.#timer = setTimeout(() => this.#commitInBackground(), RESULTS_WAIT_MS);
        return;
      case "toolStart":
        return this.#startCall(entry.call);
      case "toolResult":
        return this.#endCall(entry);
      case "compaction":
        return this.#compact(entry);
    }
  }

  async commit(): Promise<void> {
    await this.#awaitBackground();
    this.#commitInBackground();
    await this.#awaitBackground();
  }

  async end(): Promise<RunTail> {
    await this.#awaitBackground();
    // Record calls without a result, so that the next run can resolve them.
    if (this.#open.size > 0) await this.#commit();
    const { messages } = this.#take();
    const seqs = [...this.#seqs, ...messages.map((_, index) => this.#newest + 1 + index)];
    return { messages, seqs: this.#compacted ? undefined : seqs };
  }

  async flush(): Promise<void> {
    await this.#awaitBackground();
    await this.#commit();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #startCall({ id, name }: ToolCallBlock): Promise<void> {
    if (isHarmless(this.#options.effects(name))) return;
    const { messages, intents } = this.#take();
    const start = { ...this.#run, callIds: [id], messages, intents };
    await this.#write(messages, () => this.#options.store.runs.toolStarted(start));
  }

  async #endCall({
    message,
    messages: results,
  }: Extract<JournalEntry, { kind: "toolResult" }>): Promise<void> {
    this.#open.delete(message.toolCallId);
    this.#pending.push(...results);
    if (this.#open.size > 0) return;
    const { messages } = this.#take();
    const callIds = this.#recorded.has(message.toolCallId) ? [message.toolCallId] : [];
    await this.#write(messages, () =>
      this.#options.store.runs.toolResults({ ...this.#run, callIds, messages }),
    );
  }

  async #compact({ replaced, summary }: Extract<JournalEntry, { kind: "compaction" }>): Promise<void> {
    const upTo = this.#seqs[replaced - 1];
    if (upTo === undefined) return;
    await this.#commit();
    const { store, sessionKey, lease } = this.#options;
    await this.#write([], () => store.sessions.compact(sessionKey, { summary, upTo, lease }));
    this.#seqs.splice(0, replaced, ++this.#newest);
    this.#compacted = true;
  }

  async #commit(inboxIds?: readonly InboxId[]): Promise<void> {
    if (this.#pending.length === 0) return;
    const { messages, intents } = this.#take();
    await this.#write(messages, () =>
      this.#options.store.runs.step({ ...this.#run, messages, intents, inboxIds }),
    );
  }

  /**
   * Writes to the store. After a failed write, nothing else is written, because that would leave a gap in the
   * conversation.
   */
  async #write(messages: readonly AgentMessage[], write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
    for (const _ of messages) this.#seqs.push(++this.#newest);
  }

  #commitInBackground(): void {
    this.#timer = undefined;
    // The next entry reports a failure.
    this.#background = this.#commit().catch(() => {});
  }

  async #awaitBackground(): Promise<void> {
    await this.#background;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Removes and returns all pending entries for a commit. */
  #take(): { readonly messages: AgentMessage[]; readonly intents: ToolIntent[] } {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const messages = this.#pending;
    const intents = [...this.#open.values()];
    for (const { callId } of intents) this.#recorded.add(callId);
    this.#pending = [];
    this.#open.clear();
    return { messages, intents };
  }
}

function createIntent(call: ToolCallBlock, effects: (tool: string) => ToolEffects): ToolIntent {
  const args: JsonObject = call.args ?? { unreadable: call.argsText };
  return { callId: call.id, name: call.name, args, effects: effects(call.name) };
}
