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

/** What a transformation of the request can use. */
export interface TransformInfo {
  /** 1 for the first model call of the run. */
  readonly turn: number;
  /** Index in `messages` of the first message this run added; `messages.length` when it added none. */
  readonly runStart: number;
  readonly signal: AbortSignal;
}

/** A call that is about to run, its arguments checked. */
export interface ToolCallInfo {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
  /** The arguments as validated by the schema. */
  readonly args: unknown;
  /** The model turn that asked for it. */
  readonly message: AssistantMessage;
  readonly turn: number;
  readonly signal: AbortSignal;
}

/**
 * - `allow` (also `undefined`): run it.
 * - `block`: do not; the model gets `reason`.
 * - `change`: run it with other arguments, which are checked again (so: as a model would write them).
 * - `ask`: a person decides. `onAsk` is asked; without one the run ends with `waiting`.
 */
export type ToolDecision =
  | { readonly action: "allow" }
  | { readonly action: "block"; readonly reason: string }
  | { readonly action: "change"; readonly args: JsonObject }
  | { readonly action: "ask"; readonly question: string; readonly details?: JsonObject };

/** Decides about one call. It fails closed: if it throws, the call does not run. */
export type BeforeToolCall = (info: ToolCallInfo) => Awaitable<ToolDecision | undefined>;

/** `wait` ends the run with `waiting` and leaves the call without a result. */
export type AskAnswer =
  | { readonly action: "allow" }
  | { readonly action: "deny"; readonly reason: string }
  | { readonly action: "wait" };

/** Asks a person the question of an `ask` decision. If it throws, the answer is no. */
export type OnAsk = (
  info: ToolCallInfo & { readonly question: string; readonly details?: JsonObject },
) => Awaitable<AskAnswer>;

/**
 * One durable entry of a run.
 * - `input`: what is about to be sent (prompt, steering, follow-ups, the loop's own notes).
 * - `assistant`: a model turn together with the calls it asks for, before any of them runs.
 * - `toolStart`: a call is about to take effect. No messages.
 * - `toolResult`: one result. Calls that run in parallel report as they finish, so results may arrive in another
 *   order than the calls; `repairHistory` restores it on load.
 * - `compaction`: the first `replaced` messages of the history give way to `messages[0]`.
 */
export type JournalEntry = {
  readonly turn: number;
  /** The messages that this entry adds to the history, in order. */
  readonly messages: readonly AgentMessage[];
  /** Open calls after this entry: the intents to store with it. */
  readonly pendingToolCalls: readonly ToolCallBlock[];
} & (
  | { readonly kind: "input"; readonly origin: InputOrigin }
  | { readonly kind: "assistant"; readonly message: AssistantMessage }
  | { readonly kind: "toolStart"; readonly call: ToolCallBlock; readonly args: unknown }
  | { readonly kind: "toolResult"; readonly message: ToolResultMessage }
  | { readonly kind: "compaction"; readonly summary: CompactionSummaryMessage; readonly replaced: number }
);

/**
 * Makes an entry durable. Awaited before the next effect (a model call, a tool). If it throws, nothing else happens and
 * the run fails with an `AgentError` `journal_failed`.
 */
export type OnJournalEntry = (entry: JournalEntry) => Awaitable<void>;

/** An open call of an earlier run. `tool` is `undefined` if the tool no longer exists. */
export interface PendingCall {
  readonly call: ToolCallBlock;
  readonly tool: Tool | undefined;
  /** Whether something new was said before the call was settled. */
  readonly newInput: boolean;
}

/**
 * `run` goes through `beforeToolCall` as any other call. `wait` ends the run with `waiting` again; when something new
 * was said, a call can wait no longer, and the model is told that it was not run.
 */
export type PendingDecision =
  | { readonly action: "run" }
  | { readonly action: "result"; readonly result: ToolResult }
  | { readonly action: "wait" };

/**
 * Saves what must outlive the compaction of `messages` (a memory flush). Bounded by the compaction's time; errors are
 * ignored. `onTurn` is to be called with each model turn that this takes, for its usage.
 */
export type BeforeCompaction = (info: {
  readonly messages: readonly AgentMessage[];
  readonly tokens: number;
  readonly signal: AbortSignal;
  readonly onTurn: (turn: AssistantMessage) => void;
}) => Awaitable<void>;

/** The points at which a host can influence a run or take part in it. */
export interface Hooks {
  /**
   * Changes what one model call sees; the history stays as it is. Called before each model call with the conversation
   * after pruning. The result is repaired before it is sent.
   */
  readonly transformContext?: (
    messages: readonly AgentMessage[],
    info: TransformInfo,
  ) => Awaitable<readonly AgentMessage[]>;
  /** Turns one message into what a vendor understands; `undefined` leaves it out. Pure: called once per message. */
  readonly convertToLlm?: (message: AgentMessage) => Message | undefined;
  readonly beforeToolCall?: BeforeToolCall;
  readonly onAsk?: OnAsk;
  /** Sees a tool's result and may replace it. If it throws, the model gets the error instead of the result. */
  readonly afterToolCall?: (
    info: ToolCallInfo & { readonly result: ToolResult },
  ) => Awaitable<ToolResult | undefined>;
  readonly onJournalEntry?: OnJournalEntry;
  /**
   * Says what to do with a call that an earlier run left without a result. Default (also for `undefined`): run it
   * again, but if the tool is gone or its effects are `external`, tell the model that the outcome is unknown. Default
   * when a new prompt comes first: not run, and the model is told so.
   */
  readonly onPendingCall?: (pending: PendingCall) => Awaitable<PendingDecision | undefined>;
  readonly beforeCompaction?: BeforeCompaction;
}
