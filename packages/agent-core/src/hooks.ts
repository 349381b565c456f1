import type { ToolCallBlock } from "./content.ts";
import type { InputOrigin } from "./events.ts";
import type { JsonObject } from "./json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  CompactionSummaryMessage,
  Message,
  ToolResultMessage,
} from "./messages.ts";
import type { Tool, ToolResult } from "./tool.ts";

type Awaitable<T> = T | Promise<T>;

/** Passed to `transformContext`. */
export interface TransformInfo {
  /** 1 for the first model call of the run. */
  readonly turn: number;
  /** Index in `messages` of the first message that this run added; `messages.length` if it added none. */
  readonly runStart: number;
  readonly signal: AbortSignal;
}

/** A call that is about to run. Its arguments are validated. */
export interface ToolCallInfo {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
  /** The arguments as returned by the schema. */
  readonly args: unknown;
  /** The model turn that requested the call. */
  readonly message: AssistantMessage;
  readonly turn: number;
  readonly signal: AbortSignal;
}

/**
 * - `allow` (also `undefined`): run the call.
 * - `block`: do not run it; the model gets `reason`.
 * - `change`: run it with other arguments, which are validated again (write them as a model would).
 * - `ask`: a person decides in `onAsk`. Without `onAsk` the run ends with `waiting`.
 */
export type ToolDecision =
  | { readonly action: "allow" }
  | { readonly action: "block"; readonly reason: string }
  | { readonly action: "change"; readonly args: JsonObject }
  | { readonly action: "ask"; readonly question: string; readonly details?: JsonObject };

/** Decides whether a call may run. Fails closed: if it throws, the call does not run. */
export type BeforeToolCall = (info: ToolCallInfo) => Awaitable<ToolDecision | undefined>;

/** `wait` ends the run with `waiting` and leaves the call pending. */
export type AskAnswer =
  | { readonly action: "allow" }
  | { readonly action: "deny"; readonly reason: string }
  | { readonly action: "wait" };

/**
 * Shows a person the question of an `ask` decision and resolves with the answer. If it throws, the call does not run.
 */
export type OnAsk = (
  info: ToolCallInfo & { readonly question: string; readonly details?: JsonObject },
) => Awaitable<AskAnswer>;

/**
 * An entry of the journal of a run.
 * - `input`: messages that are about to be sent (prompt, steering, follow-ups, notes of the loop).
 * - `assistant`: a model turn together with its calls, before any of them runs.
 * - `toolStart`: a call is about to take effect. No messages.
 * - `toolResult`: one result. Parallel calls report as they finish, so results may arrive in another order than their
 *   calls; `repairHistory` restores it on load.
 * - `compaction`: `messages[0]` replaces the first `replaced` messages of the history.
 */
export type JournalEntry = {
  readonly turn: number;
  /** The messages that this entry adds to the history, in order. */
  readonly messages: readonly AgentMessage[];
  /** Pending calls after this entry. Store them with it. */
  readonly pendingToolCalls: readonly ToolCallBlock[];
} & (
  | { readonly kind: "input"; readonly origin: InputOrigin }
  | { readonly kind: "assistant"; readonly message: AssistantMessage }
  | { readonly kind: "toolStart"; readonly call: ToolCallBlock; readonly args: unknown }
  | { readonly kind: "toolResult"; readonly message: ToolResultMessage }
  | { readonly kind: "compaction"; readonly summary: CompactionSummaryMessage; readonly replaced: number }
);

/**
 * Persists an entry. Awaited before the next effect (a model call, a tool). If it throws, nothing further takes effect,
 * and the run fails with an `AgentError` `journal_failed`.
 */
export type OnJournalEntry = (entry: JournalEntry) => Awaitable<void>;

/** A pending call of an earlier run. `tool` is `undefined` if the tool no longer exists. */
export interface PendingCall {
  readonly call: ToolCallBlock;
  readonly tool: Tool | undefined;
  /** True if a new message arrived before the call was completed. */
  readonly newInput: boolean;
}

/**
 * `run` passes the call through `beforeToolCall` like any other. `wait` ends the run with `waiting` again. With new
 * input the call cannot wait any longer, and the model learns that it did not run.
 */
export type PendingDecision =
  | { readonly action: "run" }
  | { readonly action: "result"; readonly result: ToolResult }
  | { readonly action: "wait" };

/**
 * Saves data that must survive the compaction of `messages`, for instance in a memory. Counts toward the time limit of
 * the compaction. Errors are ignored. Call `onTurn` with each model turn that this takes, to count its usage.
 */
export type BeforeCompaction = (info: {
  readonly messages: readonly AgentMessage[];
  readonly tokens: number;
  readonly signal: AbortSignal;
  readonly onTurn: (turn: AssistantMessage) => void;
}) => Awaitable<void>;

/** Hooks through which a host can influence a run. */
export interface Hooks {
  /**
   * Changes the messages of one model call; the history is not affected. Called after pruning. The result is repaired
   * before it is sent.
   */
  readonly transformContext?: (
    messages: readonly AgentMessage[],
    info: TransformInfo,
  ) => Awaitable<readonly AgentMessage[]>;
  /**
   * Converts one message for vendors. Return `undefined` to omit it. Must be pure, because it is called once per
   * message.
   */
  readonly convertToLlm?: (message: AgentMessage) => Message | undefined;
  readonly beforeToolCall?: BeforeToolCall;
  readonly onAsk?: OnAsk;
  /** Receives the result of a tool and may replace it. If it throws, the model gets the error instead of the result. */
  readonly afterToolCall?: (
    info: ToolCallInfo & { readonly result: ToolResult },
  ) => Awaitable<ToolResult | undefined>;
  readonly onJournalEntry?: OnJournalEntry;
  /**
   * Decides what happens to a call that an earlier run left pending. Default (also for `undefined`): run it again. If
   * the tool no longer exists or its effects are `external`, report an unknown outcome to the model instead. If there
   * is new input, the default is to report that the call did not run.
   */
  readonly onPendingCall?: (pending: PendingCall) => Awaitable<PendingDecision | undefined>;
  readonly beforeCompaction?: BeforeCompaction;
}
