import type { Hooks } from "./hooks.ts";
import type { AgentMessage } from "./messages.ts";
import type { Model, StreamModel, StreamOptions, SystemInput } from "./model.ts";
import type { Tool } from "./tool.ts";

/** Limits of one run. A missing limit means no limit, except for `turns` and `toolCalls`. */
export interface RunLimits {
  /** Model calls. Default: 200. */
  readonly turns?: number;
  /** Default: 1,000. Calls beyond the limit do not run, and the run ends. */
  readonly toolCalls?: number;
  /** Milliseconds since the start of the run, including waiting for people. */
  readonly wallMs?: number;
  /** Output tokens, reported or estimated. A request asks for at most what is left. */
  readonly outputTokens?: number;
  /** Millionths of the currency, as in `usage.costMicros`. Turns without a known price count as 0. */
  readonly costMicros?: number;
}

/** Caches the summaries of chunks, so that an interrupted compaction continues where it stopped. */
export interface CompactionCache {
  get(key: string): string | undefined | Promise<string | undefined>;
  set(key: string, summary: string): void | Promise<void>;
}

export interface CompactionPolicy {
  /** Tokens summarized in one call. Default: 40 % of the model's window. */
  readonly chunkTokens?: number;
  /**
   * Milliseconds for `beforeCompaction` and all chunks together. Default: 30,000. After that, the summary consists of
   * metadata.
   */
  readonly timeoutMs?: number;
  readonly cache?: CompactionCache;
}

/** Rules that keep a conversation inside the model's window. */
export interface ContextPolicy {
  /**
   * User turns that are sent to the model. Default: all. A quarter of them is dropped at a time, so that prompt caches
   * stay valid for a while.
   */
  readonly historyTurns?: number;
  /** `false` turns compaction off. */
  readonly compaction?: CompactionPolicy | false;
}

/** The input of a run. */
export interface AgentContext {
  /** The system prompt for the whole run, or a function that returns one for each model call (1 is the first). */
  readonly system: SystemInput | ((turn: number) => SystemInput | Promise<SystemInput>);
  /** The conversation so far. It is copied and never changed. */
  readonly history: readonly AgentMessage[];
  /** The new messages. If there are none, the run continues from the end of the history. */
  readonly input?: readonly AgentMessage[];
  readonly tools: readonly Tool[];
}

/** Removes and returns the messages that have arrived since the last call. */
export type TakeMessages = () => readonly AgentMessage[] | Promise<readonly AgentMessage[]>;

/** The settings of a run. Only `model` and `stream` are required. */
export interface AgentLoopConfig extends Hooks {
  readonly model: Model;
  readonly stream: StreamModel;
  readonly streamOptions?: Omit<StreamOptions, "signal">;
  readonly signal?: AbortSignal;

  /** Called before each sequential call, once before a parallel batch, and after each turn. */
  readonly steering?: TakeMessages;
  /** Called when the agent would stop. */
  readonly followUps?: TakeMessages;

  readonly limits?: RunLimits;
  /**
   * Detection of repeated calls. Of equal calls among the last 32, the third one warns the model and the sixth one ends
   * the run. `exempt` names tools that may be called repeatedly, for instance to poll; `false` turns the detection off.
   */
  readonly repeat?: { readonly exempt: readonly string[] } | false;
  /** Maximum number of automatic continuations of an answer truncated at the output limit. Default: 2. */
  readonly continuations?: number;
  /** Parallel calls that run at once. Default: 16. */
  readonly parallelCalls?: number;
  readonly context?: ContextPolicy;
  /**
   * Milliseconds that a model, a tool, a queue or `afterToolCall` may take to end after an abort before it is
   * abandoned. Default: 1,000. Other hooks are abandoned at once. Only `onJournalEntry` and listeners are always
   * awaited.
   */
  readonly abortGraceMs?: number;
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The options of an agent, which manages its queues, history and aborts itself. */
export interface AgentOptions extends Omit<AgentLoopConfig, "signal" | "steering" | "followUps"> {
  /** Default: no system prompt. */
  readonly system?: AgentContext["system"];
  readonly tools?: readonly Tool[];
  /** The conversation to start from. Default: empty. */
  readonly messages?: readonly AgentMessage[];
  /** Called if a listener throws. Default: `console.error`. The run continues in any case. */
  readonly onListenerError?: (error: unknown) => void;
}
