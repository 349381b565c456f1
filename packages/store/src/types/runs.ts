import type { Bodies, InboxId, JsonValue, LeaseToken, Millis, RunId } from "./common.ts";
import type { ToldEntry } from "./history.ts";
import type { InboxRow, InboxSettle } from "./inbox.ts";
import type { OutboxInsert, OutboxRow } from "./outbox.ts";
import type { Session, SessionMessage, SessionSeed } from "./sessions.ts";
import type { ModelRunUsage, RunUsage } from "./usage.ts";

/** Side effects of a tool call. A call with `external` effects must not be repeated if its outcome is unknown. */
export type ToolEffects = "none" | "idempotent" | "keyed" | "external";

/** A tool call that the model requested. Recorded before its execution. */
export interface ToolIntent {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonValue;
  readonly effects: ToolEffects;
}

/** A tool call in the journal. A `started` call without a result may have been executed. */
export interface JournalCall extends ToolIntent {
  readonly state: "intent" | "started" | "done";
}

/** `running` until {@link RunStore.finish} is called. */
export type RunOutcome = "completed" | "failed" | "aborted" | "poisoned";

/** One run: an agent's turn in a session. */
export interface Run {
  readonly id: RunId;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly generation: number;
  readonly state: "running" | RunOutcome;
  /** The lease that was used for the last write. */
  readonly lease: LeaseToken;
  /**
   * Number of starts: 1, plus one for each {@link RunStore.adopt}. Starts that ended with a {@link RunStore.rest}, or
   * while the run was waiting ({@link RunStore.wait}), do not count.
   */
  readonly attempts: number;
  readonly meta?: JsonValue;
  readonly error?: string;
  readonly usage?: RunUsage;
  readonly startedAt: Millis;
  readonly finishedAt?: Millis;
}

export interface RunBegin<T extends Bodies = Bodies> {
  /** Created if it does not exist. */
  readonly session: SessionSeed;
  readonly lease: LeaseToken;
  /** Queued messages that this run answers. They become `running`. */
  readonly inboxIds: readonly InboxId[];
  readonly userMessages: readonly T["message"][];
  /** The sender whose usage includes the run. */
  readonly sender?: string;
  /** Data needed to continue after a crash: model, thinking level, reply address, … */
  readonly meta?: JsonValue;
}

/** `busy`: another run holds the session; nothing was written. */
export type RunBegun =
  | { readonly outcome: "started"; readonly run: Run; readonly session: Session }
  | { readonly outcome: "busy"; readonly run: Run };

/** Identifies a run and the lease to write it under. */
export interface RunWrite {
  readonly runId: RunId;
  readonly lease: LeaseToken;
}

export interface RunStep<T extends Bodies = Bodies> extends RunWrite {
  readonly messages: readonly T["message"][];
  readonly intents?: readonly ToolIntent[];
  /** Queued messages that steer the run. They become `running`. */
  readonly inboxIds?: readonly InboxId[];
}

export interface RunToolStart<T extends Bodies = Bodies> extends RunWrite {
  /** Calls that are starting. */
  readonly callIds: readonly string[];
  /** Messages to append, like those of a {@link RunStep}. */
  readonly messages?: readonly T["message"][];
  readonly intents?: readonly ToolIntent[];
}

export interface RunToolResults<T extends Bodies = Bodies> extends RunWrite {
  /** Calls that have completed. */
  readonly callIds: readonly string[];
  /** The results, as messages of the conversation. */
  readonly messages: readonly T["message"][];
}

export interface RunFinish<T extends Bodies = Bodies> extends RunWrite {
  readonly outcome: RunOutcome;
  /** Final states of the run's messages. Every message of the run must be included. */
  readonly inbox: readonly InboxSettle[];
  readonly messages?: readonly T["message"][];
  readonly outbox?: readonly OutboxInsert<T["outbound"]>[];
  /** Group history entries that the run passed to its model. They are removed from the history. */
  readonly told?: readonly Pick<ToldEntry, "conversation" | "id">[];
  readonly usage?: RunUsage;
  /** The parts of `usage` by model, in the order of their last call. Usage beyond them counts as of no known model. */
  readonly models?: readonly ModelRunUsage[];
  readonly error?: string;
}

/** A run with everything needed to continue it. Damaged items are omitted, so that the run can still be ended. */
export interface InterruptedRun<T extends Bodies = Bodies> {
  readonly run: Run;
  /** The messages that this run committed. */
  readonly messages: readonly SessionMessage<T>[];
  readonly calls: readonly JournalCall[];
  readonly inbox: readonly InboxRow<T>[];
}

/** A run and the messages that it answers. */
export interface RunSummary<T extends Bodies = Bodies> {
  readonly run: Run;
  readonly inbox: readonly InboxRow<T>[];
}

/**
 * The run journal. Every write is one transaction, which checks that the lease is current and owns the run.
 *
 * @throws FencedError if the lease is not current or does not own the run. Nothing is written.
 */
export interface RunStore<T extends Bodies = Bodies> {
  /** Begins a run. This is the only write that is not synced: a power failure before the next write may undo it. */
  begin(input: RunBegin<T>): Promise<RunBegun>;
  /** Appends messages from the model, with the tool calls that it requested. */
  step(input: RunStep<T>): Promise<void>;
  /**
   * Records the start of tool calls. Await it before executing a tool with side effects. May include earlier messages
   * and intents that were not recorded yet.
   */
  toolStarted(input: RunToolStart<T>): Promise<void>;
  toolResults(input: RunToolResults<T>): Promise<void>;
  /**
   * Ends the run. Writes its last messages, the final states of inbox rows, outbox rows, group history and usage in one
   * transaction.
   *
   * @throws StoreError `conflict` if a message of the run has no final state
   */
  finish(input: RunFinish<T>): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * Takes over an interrupted run under the caller's lease and counts an attempt. Returns undefined if the holder's
   * lease is still valid or the run has ended, because another process was faster.
   *
   * @param input.counts false if the run did not cause the end of its process: this start replaces the previous one.
   * Default: true
   */
  adopt(input: RunWrite & { readonly counts?: boolean }): Promise<Run | undefined>;
  /**
   * Releases every run of this lease without counting the current start. A process calls this while it stops, so that
   * its runs do not count as crashed. The runs are then interrupted, and writes to them reject with a `FencedError`.
   */
  rest(lease: LeaseToken): Promise<void>;
  /**
   * Records that a run is waiting for a person. While it waits, the current start does not count as an attempt, so a
   * crash of the process does not count against the run. With `waiting: false`, the start counts again. Calls must be
   * paired.
   */
  wait(input: RunWrite & { readonly waiting: boolean }): Promise<void>;
  /**
   * Returns runs whose lease was released, was taken under a later epoch, or has expired, oldest first. Omits runs of
   * the `asker`, even if its lease has expired, because it is still working on them.
   */
  interrupted(asker?: LeaseToken): Promise<readonly InterruptedRun<T>[]>;
  /** Returns runs that have not ended, oldest first. */
  active(): Promise<readonly Run[]>;
  get(id: RunId): Promise<Run | undefined>;
  /** Returns the journal of a run, whether it is running or has ended. */
  inspect(id: RunId): Promise<InterruptedRun<T> | undefined>;
  /** Returns runs with their messages, for one page of a transcript. Uses two queries. Omits pruned runs. */
  summaries(ids: readonly RunId[]): Promise<readonly RunSummary<T>[]>;
  /** Returns runs, newest first. */
  list(filter?: {
    readonly sessionKey?: string;
    readonly before?: RunId;
    /** Default 50. */
    readonly limit?: number;
  }): Promise<readonly Run[]>;
}
