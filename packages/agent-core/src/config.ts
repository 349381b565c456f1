import type { Hooks } from "./hooks.ts";
import type { AgentMessage } from "./messages.ts";
import type { Model, StreamModel, StreamOptions, SystemInput } from "./model.ts";
import type { Tool } from "./tool.ts";

/** Limits of one run. A missing limit means no limit, except for `turns` and `toolCalls`. */
export interface RunLimits {
  /** Maximum number of model calls. Default: 200. */
  readonly turns?: number;
  /** Maximum number of tool calls. Default: 1,000. Calls beyond the limit do not run, and the run ends. */
  readonly toolCalls?: number;
  /** Time limit in milliseconds from the start of the run, including the time spent waiting for people. */
  readonly wallMs?: number;
  /** Maximum number of output tokens, reported or estimated. Each request asks for at most the remainder. */
  readonly outputTokens?: number;
  /** Maximum cost in millionths of the currency, as in `usage.costMicros`. Turns without a known price count as 0. */
  readonly costMicros?: number;
}

/** Caches the summaries of chunks, so that an interrupted compaction can resume. */
export interface CompactionCache {
  get(key: string): string | undefined | Promise<string | undefined>;
  set(key: string, summary: string): void | Promise<void>;
}

export interface CompactionPolicy {
  /** Number of tokens to summarize per call. Default: 40 % of the model's window. */
  readonly chunkTokens?: number;
  /**
   * Time limit in milliseconds for `beforeCompaction` and all chunks together. Default: 30,000. When it expires, the
   * summary consists of metadata.
   */
  readonly timeoutMs?: number;
  readonly cache?: CompactionCache;
}

/** Rules that keep a conversation inside the model's window. */
export interface ContextPolicy {
  /**
   * Maximum number of user turns that are sent to the model. Default: all. A quarter of them is dropped at a time, so
   * that prompt caches stay valid for a while.
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

  /** Called before each sequential call, before each parallel batch, and after each turn. */
  readonly steering?: TakeMessages;
  /** Called when the agent would otherwise stop. */
  readonly followUps?: TakeMessages;

  readonly limits?: RunLimits;
  /**
   * Detection of repeated calls. Among the last 32 calls, the third equal one triggers a warning to the model, and the
   * sixth ends the run. `exempt` lists tools that may be called repeatedly, for instance to poll. `false` turns the
   * detection off.
   */
  readonly repeat?: { readonly exempt: readonly string[] } | false;
  /** Maximum number of automatic continuations of an answer truncated at the output limit. Default: 2. */
  readonly continuations?: number;
  /** Maximum number of parallel calls in flight. Default: 16. */
  readonly parallelCalls?: number;
  readonly context?: ContextPolicy;
  /**
   * Grace period in milliseconds after an abort, in which a model, a tool, a queue or `afterToolCall` can finish before
   * it is abandoned. Default: 1,000. Other hooks are abandoned immediately. Only `onJournalEntry` and listeners are
   * always awaited.
   */
  readonly abortGraceMs?: number;
  /** Returns the current time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The options of an agent, which manages its queues, history and aborts itself. */
export interface AgentOptions extends Omit<AgentLoopConfig, "signal" | "steering" | "followUps"> {
  /** Default: no system prompt. */
  readonly system?: AgentContext["system"];
  readonly tools?: readonly Tool[];
  /** The conversation to start from. Default: empty. */
  readonly messages?: readonly AgentMessage[];
  /** Called if a listener throws. The run continues. Default: `console.error`. */
  readonly onListenerError?: (error: unknown) => void;
}
