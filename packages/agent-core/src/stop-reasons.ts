import type { EndReason } from "./events.ts";
import type { StopReason } from "./messages.ts";

/** What a stop reason means to those who must know: the loop, a host that shows or keeps the turn, an API in front. */
export interface StopReasonRule {
  /**
   * What follows the turn.
   * - `rest`: the run ends unless somebody has more to say.
   * - `tools`: the calls run, and the model is asked again. Calls of any other turn are answered, not run.
   * - `continue`: the model is asked to go on where its answer was cut, up to `continuations` times.
   * - `resume`: the model is asked again as it is; the vendor only paused.
   * - `fail`: the run ends at once.
   */
  readonly next: "rest" | "tools" | "continue" | "resume" | "fail";
  /** How the run ends when it ends on such a turn. */
  readonly ends: EndReason;
  /**
   * Whether the text counts as an answer: `whole`, the first `part` of one that the next turn goes on with, or what was
   * left when it was `broken` off. All of it stays in the history; a broken answer is shown as such, or taken back.
   */
  readonly text: "whole" | "part" | "broken";
  /** The word for it in APIs that follow OpenAI's; `error` where such an API answers with an error instead. */
  readonly finishReason: "stop" | "tool_calls" | "length" | "content_filter" | "error";
}

/** Each stop reason's consequences, in one place. */
export const STOP_REASONS: Readonly<Record<StopReason, StopReasonRule>> = {
  end_turn: { next: "rest", ends: "done", text: "whole", finishReason: "stop" },
  stop_sequence: { next: "rest", ends: "done", text: "whole", finishReason: "stop" },
  tool_use: { next: "tools", ends: "done", text: "whole", finishReason: "tool_calls" },
  max_tokens: { next: "continue", ends: "cut", text: "part", finishReason: "length" },
  pause: { next: "resume", ends: "cut", text: "part", finishReason: "length" },
  refusal: { next: "rest", ends: "refusal", text: "whole", finishReason: "content_filter" },
  filter: { next: "rest", ends: "filter", text: "whole", finishReason: "content_filter" },
  context_overflow: { next: "fail", ends: "error", text: "broken", finishReason: "error" },
  aborted: { next: "fail", ends: "aborted", text: "broken", finishReason: "error" },
  error: { next: "fail", ends: "error", text: "broken", finishReason: "error" },
};
