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
import type { Usage } from "./usage.ts";

/**
 * Why a run ended.
 * - `done`: the model finished its answer.
 * - `cut`: the answer was still cut at the output limit after the allowed continuations.
 * - `refusal`, `filter`: the model or the vendor declined.
 * - `limit`: one of the run's limits was reached; `limit` names it.
 * - `repeated`: the model made the same call over and over.
 * - `waiting`: calls wait for a decision; go on with `continue` once it is known.
 * - `aborted`: the signal ended it.
 * - `error`: the model failed for good; `error` says how.
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

/** What a run used. A count no turn reported stays `undefined`. */
export interface RunUsage {
  readonly usage: Usage;
  readonly turns: number;
  readonly toolCalls: number;
}

/** Messages in queues of the host. */
export interface Queued {
  readonly steering: readonly AgentMessage[];
  readonly followUps: readonly AgentMessage[];
}

/** Why a run broke off although it made no mistake itself. */
export interface RunFailure {
  readonly code: AgentErrorCode;
  readonly message: string;
  /** Messages that were taken from the queues and could not be stored. An `Agent` puts them back. */
  readonly unkept: Queued;
}

export interface RunResult {
  readonly reason: EndReason;
  /** Every message the run added to the history, in order, its input included; summaries are not among them. */
  readonly messages: readonly AgentMessage[];
  /** The last model turn of the run. */
  readonly message: AssistantMessage | undefined;
  /** Text of the last answer; parts cut at the output limit and continued are joined. */
  readonly text: string;
  readonly used: RunUsage;
  readonly limit?: LimitName;
  readonly error?: ModelErrorData;
  /** A hook of the host failed. `reason` is `error`; awaiting the run throws the same as an `AgentError`. */
  readonly failure?: RunFailure;
  /** Calls without a result, when `reason` is `waiting`. */
  readonly pending: readonly ToolCallBlock[];
}

/** Where a message in the history came from. */
export type MessageOrigin = InputOrigin | "model" | "tool";

/** Where what is said to the model came from: the prompt, the queues, or the loop itself. */
export type InputOrigin = "input" | "steer" | "followUp" | "loop";

export type ToolOutcome =
  | "ok"
  /** The tool failed, threw, or its arguments were wrong. */
  | "error"
  | "timeout"
  | "aborted"
  /** A gate or a person said no. */
  | "blocked"
  /** Not run: steering came first, the turn was cut, or a limit was reached. */
  | "skipped";

/** The part of a model's events that viewers see, passed on unchanged (the same objects). */
export type ModelStreamEvent = Exclude<ModelEvent, { readonly type: "start" | "finish" | "error" }>;

/**
 * What happens in a run. Events are immutable. Order:
 *
 * ```text
 * run.start
 *   CALLS message*                               calls an earlier run left open, settled; their results
 *   message*                                     the input, and what was queued, each once it is durable
 *   turn.start                                   and so on for each turn
 *     SHORTER                                    when the window is filling up
 *     ANSWER
 *     (SHORTER model.discard ANSWER)?            the vendor had no room: what was streamed is void
 *     message?                                   the model's turn, once durable; none where it failed without a word
 *     CALLS
 *     message*                                   results, in the order of the calls
 *   turn.end
 *   message*                                     steering, follow-ups and the loop's own notes, each once it is durable
 * run.end
 *
 * SHORTER = prune? (compaction.start compaction.end?)?
 * ANSWER  = attempt* model.start? (block.start *.delta* block.end | usage | attempt)*
 *           (attempt model.discard ANSWER)?      an attempt broke off that nobody had seen: begins anew
 * CALLS   = (tool.ask? (tool.start tool.update*)? tool.end?)*    calls that run at once interleave
 * ```
 * `block.*`, `*.delta`, `usage` and `attempt` are the model's own events; `model.start` comes with the stream's own
 * `start`, which an adapter may give before the vendor has answered. Each call has one `tool.end`, unless it waits for
 * a decision; the results follow as messages once all calls have ended. A turn in which the run has to stop before the
 * model was asked has no `turn.end`, and a failed hook ends the run wherever it is. `run.end` comes exactly once, and
 * last. `Agent.compact` outside a run gives `compaction.*` alone.
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
      /** Milliseconds that the tool worked, without the wait for a person's decision; 0 for what never ran. */
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
      /** `metadata` when the model did not give a summary in time. */
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
  /** Only from `Agent.events`: a viewer too slow to keep up missed this many events; take a snapshot. */
  | { readonly type: "lagged"; readonly missed: number };

/** Takes one event. A promise is awaited before anything else happens: that is the backpressure. */
export type EmitEvent = (event: AgentEvent) => void | Promise<void>;
