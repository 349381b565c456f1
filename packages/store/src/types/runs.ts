import type { Bodies, InboxId, JsonValue, LeaseToken, Millis, RunId } from "./common.ts";
import type { ToldEntry } from "./history.ts";
import type { InboxRow, InboxSettle } from "./inbox.ts";
import type { OutboxInsert, OutboxRow } from "./outbox.ts";
import type { Session, SessionMessage, SessionSeed } from "./sessions.ts";
import type { RunUsage } from "./usage.ts";

/** Effects of a tool call. A call with `external` effects must not be repeated if its outcome is unknown. */
export type ToolEffects = "none" | "idempotent" | "keyed" | "external";

/** A tool call requested by the model, recorded before its execution. */
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

/** `running` until {@link RunStore.finish}. */
export type RunOutcome = "completed" | "failed" | "aborted" | "poisoned";

/** One run: an agent's turn in a session. */
export interface Run {
  readonly id: RunId;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly generation: number;
  readonly state: "running" | RunOutcome;
  /** The lease of the last write. */
  readonly lease: LeaseToken;
  /**
   * Number of starts: 1, and one more for each {@link RunStore.adopt}. Starts that ended in a {@link RunStore.rest}, or
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

/** Identifies a run and the lease under which it is written. */
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
  /** Calls that begin now. */
  readonly callIds: readonly string[];
  /** As in a {@link RunStep}. */
  readonly messages?: readonly T["message"][];
  readonly intents?: readonly ToolIntent[];
}

export interface RunToolResults<T extends Bodies = Bodies> extends RunWrite {
  /** Calls that have their results now. */
  readonly callIds: readonly string[];
  /** The results, as messages of the conversation. */
  readonly messages: readonly T["message"][];
}

export interface RunFinish<T extends Bodies = Bodies> extends RunWrite {
  readonly outcome: RunOutcome;
  /** Final states of the run's messages. All are required. */
  readonly inbox: readonly InboxSettle[];
  readonly messages?: readonly T["message"][];
  readonly outbox?: readonly OutboxInsert<T["outbound"]>[];
  /** Entries of the group history that the run passed to its model. They are removed from the history. */
  readonly told?: readonly Pick<ToldEntry, "conversation" | "id">[];
  readonly usage?: RunUsage;
  readonly error?: string;
}

/** A run with everything needed to continue it. Damaged parts are omitted, so that the run can still be ended. */
export interface InterruptedRun<T extends Bodies = Bodies> {
  readonly run: Run;
  /** The messages this run committed. */
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
 * The journal. Every write is one transaction, which checks that the lease is current and owns the run.
 *
 * @throws FencedError if the lease is not current or does not own the run; nothing is written
 */
export interface RunStore<T extends Bodies = Bodies> {
  /** Begins a run. The only write that is not synced: a power failure before the next write may undo it. */
  begin(input: RunBegin<T>): Promise<RunBegun>;
  /** Appends messages of the model, with the tool calls that it requested. */
  step(input: RunStep<T>): Promise<void>;
  /**
   * Records the start of tool calls. Await it before executing a tool with effects. May include earlier messages and
   * intents that were not recorded yet.
   */
  toolStarted(input: RunToolStart<T>): Promise<void>;
  toolResults(input: RunToolResults<T>): Promise<void>;
  /**
   * Ends the run: its last messages, final states of inbox rows, outbox rows, group history and usage in one
   * transaction.
   *
   * @throws StoreError `conflict` if one of the run's messages has no final state
   */
  finish(input: RunFinish<T>): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * Takes over an interrupted run under the caller's lease and counts an attempt. Returns undefined if the holder's
   * lease is still valid or the run has ended: another process was faster.
   *
   * @param input.counts false if the run is not blamed for the end of its process: this start replaces the last one.
   *   Default: true
   */
  adopt(input: RunWrite & { readonly counts?: boolean }): Promise<Run | undefined>;
  /**
   * Releases every run of this lease without counting the current start. For a process that is being stopped, so that
   * no run is blamed for it. The runs are then interrupted, and writes to them reject with a `FencedError`.
   */
  rest(lease: LeaseToken): Promise<void>;
  /**
   * Records that a run waits for a person, so that it is not blamed if the process dies: the current start does not
   * count. With `waiting: false` it counts again. Call it in pairs.
   */
  wait(input: RunWrite & { readonly waiting: boolean }): Promise<void>;
  /**
   * Returns runs whose lease was released, taken under a later epoch, or has expired, oldest first. Runs of the `asker`
   * are omitted, even if its lease expired in the meantime: it still works on them.
   */
  interrupted(asker?: LeaseToken): Promise<readonly InterruptedRun<T>[]>;
  /** Returns runs that have not ended, oldest first. */
  active(): Promise<readonly Run[]>;
  get(id: RunId): Promise<Run | undefined>;
  /** Returns the journal of a running or ended run. */
  inspect(id: RunId): Promise<InterruptedRun<T> | undefined>;
  /** Returns runs with their messages, for a page of a transcript. Uses two queries. Omits pruned runs. */
  summaries(ids: readonly RunId[]): Promise<readonly RunSummary<T>[]>;
  /** Newest first. */
  list(filter?: {
    readonly sessionKey?: string;
    readonly before?: RunId;
    /** Default 50. */
    readonly limit?: number;
  }): Promise<readonly Run[]>;
}
