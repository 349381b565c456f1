import type { Bodies, InboxId, JsonValue, LeaseToken, Millis, RunId } from "./common.ts";
import type { ToldEntry } from "./history.ts";
import type { InboxRow, InboxSettle } from "./inbox.ts";
import type { OutboxInsert, OutboxRow } from "./outbox.ts";
import type { Session, SessionMessage, SessionSeed } from "./sessions.ts";
import type { RunUsage } from "./usage.ts";

/** Whether a tool call may be repeated if its outcome is unknown. `external`: no. */
export type ToolEffects = "none" | "idempotent" | "keyed" | "external";

/** A tool call the model asked for, recorded before anything happens. */
export interface ToolIntent {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonValue;
  readonly effects: ToolEffects;
}

/** A tool call as the journal knows it. `started` without a result: it may have happened. */
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
  /** The lease under which it last was written. */
  readonly lease: LeaseToken;
  /**
   * How many times it was started: 1, and one more for each {@link RunStore.adopt}. Starts that ended in a
   * {@link RunStore.rest}, or while it {@link RunStore.wait waited}, do not count.
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
  /** Queued messages this run answers; they become `running`. */
  readonly inboxIds: readonly InboxId[];
  readonly userMessages: readonly T["message"][];
  /** Who asked for it: its usage counts for them. */
  readonly sender?: string;
  /** Anything needed to continue after a crash: model, thinking level, reply address, … */
  readonly meta?: JsonValue;
}

/** `busy`: another run holds the session; nothing was written. */
export type RunBegun =
  | { readonly outcome: "started"; readonly run: Run; readonly session: Session }
  | { readonly outcome: "busy"; readonly run: Run };

/** Names the run, and the lease under which it continues. */
export interface RunWrite {
  readonly runId: RunId;
  readonly lease: LeaseToken;
}

export interface RunStep<T extends Bodies = Bodies> extends RunWrite {
  readonly messages: readonly T["message"][];
  readonly intents?: readonly ToolIntent[];
  /** Queued messages that steer the run from here on; they become `running`. */
  readonly inboxIds?: readonly InboxId[];
}

export interface RunToolStart<T extends Bodies = Bodies> extends RunWrite {
  /** The calls that begin now. */
  readonly callIds: readonly string[];
  /** As in a {@link RunStep}. */
  readonly messages?: readonly T["message"][];
  readonly intents?: readonly ToolIntent[];
}

export interface RunToolResults<T extends Bodies = Bodies> extends RunWrite {
  /** The calls that have their result now. */
  readonly callIds: readonly string[];
  /** The results, as messages of the conversation. */
  readonly messages: readonly T["message"][];
}

export interface RunFinish<T extends Bodies = Bodies> extends RunWrite {
  readonly outcome: RunOutcome;
  /** The ends of the run's messages. Error `conflict` if one of them is missing. */
  readonly inbox: readonly InboxSettle[];
  readonly messages?: readonly T["message"][];
  readonly outbox?: readonly OutboxInsert<T["outbound"]>[];
  /** Entries of a group's history that the run has told its model, and that are not told again. */
  readonly told?: readonly Pick<ToldEntry, "conversation" | "id">[];
  readonly usage?: RunUsage;
  readonly error?: string;
}

/** A run whose holder is gone, with everything needed to continue; without what is damaged, so that it can be ended. */
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
 * The journal. Every method is one transaction and checks, in that transaction, that the lease is current and that
 * the run belongs to it; else it rejects with a `FencedError` and writes nothing.
 */
export interface RunStore<T extends Bodies = Bodies> {
  /** The only write that is not synced: a loss of power before the next one may undo it. */
  begin(input: RunBegin<T>): Promise<RunBegun>;
  /** Appends what the model said, with the tool calls it asked for. */
  step(input: RunStep<T>): Promise<void>;
  /** Await it before a tool with effects is executed; earlier steps that were not yet recorded may come along. */
  toolStarted(input: RunToolStart<T>): Promise<void>;
  toolResults(input: RunToolResults<T>): Promise<void>;
  /** Ends the run: last messages, ends of its inbox rows, outbox rows, told history and usage in one transaction. */
  finish(input: RunFinish<T>): Promise<readonly OutboxRow<T["outbound"]>[]>;
  /**
   * Takes over an interrupted run under the caller's lease and counts an attempt. `undefined` if its holder's lease is
   * still valid or the run has ended: someone else was faster.
   */
  adopt(input: RunWrite): Promise<Run | undefined>;
  /**
   * Gives up every run of this lease, without counting the current start: for a process that is told to stop and knows
   * that no run is to blame. The runs are interrupted from then on, and a write to one rejects with a `FencedError`.
   */
  rest(lease: LeaseToken): Promise<void>;
  /**
   * Notes that a run waits for a person and cannot be the reason why its process ends: the current start does not
   * count. With `waiting: false` it counts again. Call it in pairs.
   */
  wait(input: RunWrite & { readonly waiting: boolean }): Promise<void>;
  /**
   * Runs whose lease was lost: released, taken by a later epoch, or run out; those of the `asker` are under way there,
   * also where its lease has run out meanwhile. Oldest first.
   */
  interrupted(asker?: LeaseToken): Promise<readonly InterruptedRun<T>[]>;
  /** Those that have not ended, the oldest first. */
  active(): Promise<readonly Run[]>;
  get(id: RunId): Promise<Run | undefined>;
  /** The journal of one run, running or ended. */
  inspect(id: RunId): Promise<InterruptedRun<T> | undefined>;
  /** For a page of a transcript, in two queries for any number of runs; runs that are no longer stored are left out. */
  summaries(ids: readonly RunId[]): Promise<readonly RunSummary<T>[]>;
  /** Newest first. */
  list(filter?: {
    readonly sessionKey?: string;
    readonly before?: RunId;
    /** Default 50. */
    readonly limit?: number;
  }): Promise<readonly Run[]>;
}
