import type { Hooks } from "./hooks.ts";
import type { AgentMessage } from "./messages.ts";
import type { Model, StreamModel, StreamOptions, SystemInput } from "./model.ts";
import type { Tool } from "./tool.ts";

/** Limits of one run. A missing one means no limit, except for `turns` and `toolCalls`. */
export interface RunLimits {
  /** Model calls; default 200. */
  readonly turns?: number;
  /** Default 1,000. Calls beyond it are not run, and the run ends. */
  readonly toolCalls?: number;
  /** Milliseconds from the start of the run, waiting for people included. */
  readonly wallMs?: number;
  /** Output tokens, as reported or else estimated. A request asks for what is left, where its model may write more. */
  readonly outputTokens?: number;
  /** Micro-units, as the turns' `usage.costMicros`; turns without a known price count as nothing. */
  readonly costMicros?: number;
}

/** Caches the summaries of chunks, so that an interrupted compaction continues where it stopped. */
export interface CompactionCache {
  get(key: string): string | undefined | Promise<string | undefined>;
  set(key: string, summary: string): void | Promise<void>;
}

export interface CompactionPolicy {
  /** Tokens summarised in one call; default 40 % of the model's window. */
  readonly chunkTokens?: number;
  /** Milliseconds for the flush and all chunks together; default 30,000. Then the summary is made of metadata. */
  readonly timeoutMs?: number;
  readonly cache?: CompactionCache;
}

/** How the conversation is kept inside the model's window. */
export interface ContextPolicy {
  /** User turns sent to the model; default all. Dropped a quarter at a time, so that prompt caches keep working. */
  readonly historyTurns?: number;
  /** `false` never compacts. */
  readonly compaction?: CompactionPolicy | false;
}

/** What a run works on. */
export interface AgentContext {
  /** The system prompt for the whole run, or a function that returns one for each model call (1 is the first). */
  readonly system: SystemInput | ((turn: number) => SystemInput | Promise<SystemInput>);
  /** The conversation so far. It is copied, never changed. */
  readonly history: readonly AgentMessage[];
  /** The new messages. Empty or absent: continue from the end of the history. */
  readonly input?: readonly AgentMessage[];
  readonly tools: readonly Tool[];
}

/** Returns the messages that have come in since, and forgets them. */
export type TakeMessages = () => readonly AgentMessage[] | Promise<readonly AgentMessage[]>;

/** How a run behaves. Only `model` and `stream` are needed. */
export interface AgentLoopConfig extends Hooks {
  readonly model: Model;
  readonly stream: StreamModel;
  readonly streamOptions?: Omit<StreamOptions, "signal">;
  readonly signal?: AbortSignal;

  /** Checked before each sequential call, once before a parallel batch, and after each turn. */
  readonly steering?: TakeMessages;
  /** Checked when the agent would stop. */
  readonly followUps?: TakeMessages;

  readonly limits?: RunLimits;
  /**
   * Of calls with the same arguments among the last 32, the third is pointed out to the model, and the sixth ends the
   * run. `exempt` names tools that are meant to be called again, for instance to poll; `false` turns the detection off.
   */
  readonly repeat?: { readonly exempt: readonly string[] } | false;
  /** How often an answer cut at the output limit is continued automatically; default 2. */
  readonly continuations?: number;
  /** Parallel calls that run at once; default 16. */
  readonly parallelCalls?: number;
  readonly context?: ContextPolicy;
  /**
   * Milliseconds that a model, a tool, a queue or `afterToolCall` may take to end after an abort before it is
   * abandoned; default 1,000. Every other hook is abandoned at once. Only `onJournalEntry` and listeners are always
   * awaited.
   */
  readonly abortGraceMs?: number;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/** An agent: what a run works on and how it behaves, without what the agent itself keeps (queues, history, abort). */
export interface AgentOptions extends Omit<AgentLoopConfig, "signal" | "steering" | "followUps"> {
  /** Default: no system prompt. */
  readonly system?: AgentContext["system"];
  readonly tools?: readonly Tool[];
  /** The conversation to start from; default empty. */
  readonly messages?: readonly AgentMessage[];
  /** A listener threw. Default: `console.error`. The run continues either way. */
  readonly onListenerError?: (error: unknown) => void;
}
