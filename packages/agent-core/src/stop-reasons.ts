import type { EndReason } from "./events.ts";
import type { StopReason } from "./messages.ts";
import type { ModelErrorCode } from "./model-error.ts";

/** The consequences of a turn's stop reason, for the loop and for hosts that show or store the turn. */
export interface StopReasonRule {
  /**
   * The next step after the turn.
   * - `rest`: the run ends unless messages are queued.
   * - `tools`: the calls run, and the model is asked again. Calls of any other turn get a result but do not run.
   * - `continue`: the model is asked to continue its truncated answer, up to `continuations` times.
   * - `resume`: the model is asked again without a new message; the vendor only paused.
   * - `fail`: the run ends at once.
   */
  readonly next: "rest" | "tools" | "continue" | "resume" | "fail";
  /** The end reason of a run that ends with such a turn. */
  readonly ends: EndReason;
  /**
   * The completeness of the text: a `whole` answer, the first `part` of one that the next turn continues, or one that
   * was `broken` off. All of it stays in the history.
   */
  readonly text: "whole" | "part" | "broken";
}

/** Consequences of each stop reason of a model turn. */
export const STOP_REASONS: Readonly<Record<StopReason, StopReasonRule>> = {
  end_turn: { next: "rest", ends: "done", text: "whole" },
  stop_sequence: { next: "rest", ends: "done", text: "whole" },
  tool_use: { next: "tools", ends: "done", text: "whole" },
  max_tokens: { next: "continue", ends: "cut", text: "part" },
  pause: { next: "resume", ends: "cut", text: "part" },
  refusal: { next: "rest", ends: "refusal", text: "whole" },
  filter: { next: "rest", ends: "filter", text: "whole" },
  context_overflow: { next: "fail", ends: "error", text: "broken" },
  aborted: { next: "fail", ends: "aborted", text: "broken" },
  error: { next: "fail", ends: "error", text: "broken" },
};

/** The consequences of a run's end reason. */
export interface EndReasonRule {
  /** True if queued steering and follow-up messages continue the run instead of ending it. */
  readonly continues: boolean;
  /** True if the model itself ended the run. Otherwise something stopped it early. */
  readonly complete: boolean;
  /** The matching `finish_reason` for OpenAI-compatible APIs. Such an API responds to `error` with an error instead. */
  readonly finishReason: "stop" | "length" | "content_filter" | "error";
}

/** Consequences of each end reason of a run. */
export const END_REASONS: Readonly<Record<EndReason, EndReasonRule>> = {
  done: { continues: true, complete: true, finishReason: "stop" },
  cut: { continues: true, complete: false, finishReason: "length" },
  refusal: { continues: true, complete: true, finishReason: "content_filter" },
  filter: { continues: true, complete: true, finishReason: "content_filter" },
  limit: { continues: false, complete: false, finishReason: "stop" },
  repeated: { continues: false, complete: false, finishReason: "stop" },
  waiting: { continues: false, complete: false, finishReason: "stop" },
  aborted: { continues: false, complete: false, finishReason: "error" },
  error: { continues: false, complete: false, finishReason: "error" },
};

/** Returns the stop reason of a turn that failed with this code. */
export function getStopReason(code: ModelErrorCode): StopReason {
  if (code === "overflow") return "context_overflow";
  return code === "aborted" ? "aborted" : "error";
}

/** Returns true if a value names the end reason of a run. */
export function isEndReason(value: unknown): value is EndReason {
  return typeof value === "string" && Object.hasOwn(END_REASONS, value);
}
