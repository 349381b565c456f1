import type { ToolCallBlock } from "./content.ts";
import type { AgentErrorCode } from "./errors.ts";
import type {
  AgentMessage,
  AssistantMessage,
  CompactionSummaryMessage,
  ToolResultMessage,
} from "./messages.ts";
import type { ModelEvent, RequestInfo, Warning } from "./model.ts";
import type { AttemptFailure, ModelErrorData } from "./model-error.ts";
import type { ToolResult } from "./tool.ts";
import type { ModelUsage, Usage } from "./usage.ts";

/**
 * Why a run ended.
 * - `done`: the model finished its answer.
 * - `cut`: the answer was still truncated at the output limit after the allowed continuations.
 * - `refusal`, `filter`: the model or the vendor declined.
 * - `limit`: a limit of the run was reached; `limit` names it.
 * - `repeated`: the model made the same call over and over.
 * - `waiting`: calls wait for a decision; use `continue` once it is known.
 * - `aborted`: the signal ended the run.
 * - `error`: the model failed; `error` says how.
 */
export type EndReason =
  | "done"
  | "cut"
  | "refusal"
  | "filter"
  | "limit"
  | "repeated"
  | "waiting"
  | "aborted"
  | "error";

export type LimitName = "turns" | "toolCalls" | "wallMs" | "outputTokens" | "costMicros";

/** Usage of a run. A count is `undefined` if no turn reported it. */
export interface RunUsage {
  readonly usage: Usage;
  readonly turns: number;
  readonly toolCalls: number;
  /** Usage by model, including failed attempts and summaries. The model that was called last is the last entry. */
  readonly models: readonly ModelUsage[];
}

/** Messages in the queues of a host. */
export interface QueuedMessages {
  readonly steering: readonly AgentMessage[];
  readonly followUps: readonly AgentMessage[];
}

/** A failure of the host that ended a run. */
export interface RunFailure {
  readonly code: AgentErrorCode;
  readonly message: string;
  /** Messages that were taken from the queues and could not be recorded. An `Agent` puts them back. */
  readonly unsaved: QueuedMessages;
}

export interface RunResult {
  readonly reason: EndReason;
  /** Every message that the run added to the history, in order, including its input but not summaries. */
  readonly messages: readonly AgentMessage[];
  /** The last model turn of the run. */
  readonly message: AssistantMessage | undefined;
  /** Text of the last answer. If a truncated answer was continued, its parts are joined. */
  readonly text: string;
  readonly used: RunUsage;
  readonly limit?: LimitName;
  readonly error?: ModelErrorData;
  /**
   * Set if a hook of the host failed. In that case `reason` is `error`, and awaiting the run throws the same failure as
   * an `AgentError`.
   */
  readonly failure?: RunFailure;
  /** Calls without a result, if `reason` is `waiting`. */
  readonly pending: readonly ToolCallBlock[];
}

/** Origin of a message in the history. */
export type MessageOrigin = InputOrigin | "model" | "tool";

/** Origin of an input message: the prompt, a queue, or the loop itself. */
export type InputOrigin = "input" | "steer" | "followUp" | "loop";

export type ToolOutcome =
  | "ok"
  /** The tool failed or threw, or its arguments were invalid. */
  | "error"
  | "timeout"
  | "aborted"
  /** `beforeToolCall` or a person rejected the call. */
  | "blocked"
  /** The call did not run, because of steering, a truncated turn or a limit. */
  | "skipped";

/** Events of a model that are passed to viewers unchanged (the same objects). */
export type ModelStreamEvent = Exclude<ModelEvent, { readonly type: "start" | "finish" | "error" }>;

/**
 * The events of a run. They are immutable. Order:
 *
 * ```text
 * run.start
 *   CALLS message*                               pending calls of an earlier run, and their results
 *   message*                                     the input and queued messages, each once it is durable
 *   turn.start                                   and so on for each turn
 *     SHORTER                                    if the window is filling up
 *     ANSWER
 *     (SHORTER model.discard ANSWER)?            the request was too long: the streamed answer is void
 *     message?                                   the model turn, once durable; none if it failed without content
 *     CALLS
 *     message*                                   results, in the order of the calls
 *   turn.end
 *   message*                                     steering, follow-ups and notes of the loop, each once it is durable
 * run.end
 *
 * SHORTER = prune? (compaction.start compaction.end?)?
 * ANSWER  = attempt* model.start? (block.start *.delta* block.end | usage | attempt)*
 *           (attempt model.discard ANSWER)?      an attempt failed before anyone saw its text, and starts again
 * CALLS   = (tool.ask? (tool.start tool.update*)? tool.end?)*    parallel calls interleave
 * ```
 * `block.*`, `*.delta`, `usage` and `attempt` are events of the model; `model.start` comes with the `start` of its
 * stream, which an adapter may emit before the vendor has responded. Each call has one `tool.end`, unless it waits for
 * a decision; the results follow as messages once all calls have ended. A turn that is stopped before the request has
 * no `turn.end`, and a failed hook ends the run at any point. `run.end` comes exactly once, as the last event.
 * `Agent.compact` outside a run emits only `compaction.*`.
 */
export type AgentEvent =
  | { readonly type: "run.start" }
  | { readonly type: "turn.start"; readonly turn: number }
  | { readonly type: "model.start"; readonly request: RequestInfo; readonly warnings: readonly Warning[] }
  | ModelStreamEvent
  | { readonly type: "model.discard"; readonly reason: "overflow"; readonly error: ModelErrorData }
  | { readonly type: "model.discard"; readonly reason: "retry"; readonly failure: AttemptFailure }
  | { readonly type: "message"; readonly message: AgentMessage; readonly origin: MessageOrigin }
  | { readonly type: "tool.ask"; readonly call: ToolCallBlock; readonly question: string }
  | { readonly type: "tool.start"; readonly call: ToolCallBlock; readonly args: unknown }
  | { readonly type: "tool.update"; readonly callId: string; readonly partial: ToolResult }
  | {
      readonly type: "tool.end";
      readonly call: ToolCallBlock;
      readonly result: ToolResultMessage;
      readonly outcome: ToolOutcome;
      /**
       * Execution time of the tool in milliseconds, without the time spent waiting for a decision. 0 if the call did
       * not run.
       */
      readonly durationMs: number;
    }
  | { readonly type: "prune"; readonly soft: number; readonly hard: number; readonly tokensSaved: number }
  | {
      readonly type: "compaction.start";
      readonly reason: "threshold" | "overflow" | "manual";
      readonly tokens: number;
    }
  | {
      readonly type: "compaction.end";
      readonly summary: CompactionSummaryMessage;
      /** `metadata` if the model returned no summary in time. */
      readonly source: "model" | "metadata";
      readonly tokens: number;
    }
  | {
      readonly type: "turn.end";
      readonly turn: number;
      readonly message: AssistantMessage;
      readonly results: readonly ToolResultMessage[];
    }
  | { readonly type: "run.end"; readonly result: RunResult }
  /** Only from `Agent.events`: a slow viewer missed this many events and should read a snapshot. */
  | { readonly type: "lagged"; readonly missed: number };

/** Receives one event. If it returns a promise, the run waits for it before it continues (backpressure). */
export type EmitEvent = (event: AgentEvent) => void | Promise<void>;
