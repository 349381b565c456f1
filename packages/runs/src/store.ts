import type { AgentMessage, CompactionSummaryMessage, JsonValue, ToolEffects } from "@signalbox/agent-core";

/** The right of one process to write. Under an older epoch than the latest of its name nothing is written. */
export interface LeaseToken {
  readonly name: string;
  readonly epoch: number;
}

/** A tool call that a model asked for, written down before anything happens. */
export interface ToolIntent {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonValue;
  readonly effects: ToolEffects;
}

/** A tool call as the journal knows it. `started` without a result: it may have happened. */
export interface JournalCall {
  readonly callId: string;
  readonly state: "intent" | "started" | "done";
}

/** Names a run, and the lease under which it continues. */
export interface RunWrite {
  readonly runId: string;
  readonly lease: LeaseToken;
}

export interface JournalStep extends RunWrite {
  readonly messages: readonly AgentMessage[];
  readonly intents?: readonly ToolIntent[];
  /** What the host keeps and the run has taken along with these messages: they are the run's from then on. */
  readonly inboxIds?: readonly string[];
}

export interface JournalCallStart extends RunWrite {
  /** The calls that begin now. */
  readonly callIds: readonly string[];
  /** As in a {@link JournalStep}. */
  readonly messages?: readonly AgentMessage[];
  readonly intents?: readonly ToolIntent[];
}

export interface JournalResults extends RunWrite {
  /** The calls, known to the journal, that have their result now. */
  readonly callIds: readonly string[];
  readonly messages: readonly AgentMessage[];
}

/** A run as its journal has it. */
export interface JournalledRun {
  /** What it added to its conversation, in order. */
  readonly messages: readonly PlacedMessage[];
  readonly calls: readonly JournalCall[];
}

/**
 * Where the steps of runs are kept. Every method is one transaction, on the disk when it resolves, and rejects without
 * writing anything under a lease that was lost, or for a run that has ended.
 */
export interface JournalStore {
  /** Appends messages to the run's conversation, with the calls they ask for. */
  step(input: JournalStep): Promise<void>;
  /** Awaited before a call takes effect. Error with the code `not_found` for a call that it does not know. */
  toolStarted(input: JournalCallStart): Promise<void>;
  toolResults(input: JournalResults): Promise<void>;
  /**
   * Notes that the run waits for a person and cannot be the reason why its process ends; `waiting: false` ends that. An
   * error with the code `conflict` or `not_found` means that the run has ended.
   */
  wait(input: RunWrite & { readonly waiting: boolean }): Promise<void>;
  inspect(runId: string): Promise<JournalledRun | undefined>;
}

/** A message of a conversation and its number there. */
export interface PlacedMessage {
  readonly seq: number;
  readonly message: AgentMessage;
}

/** The conversations that runs go on with. Each numbers its messages 1, 2, 3, … without gaps, summaries included. */
export interface ConversationStore {
  /** What a model is to see, oldest first. */
  history(sessionKey: string): Promise<readonly PlacedMessage[]>;
  /** Puts `summary` in the place of all messages up to and including `upTo`. It has the next number. */
  compact(
    sessionKey: string,
    input: { readonly summary: CompactionSummaryMessage; readonly upTo: number; readonly lease: LeaseToken },
  ): Promise<unknown>;
}
