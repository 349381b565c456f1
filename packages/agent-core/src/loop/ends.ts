import type { ToolCallBlock } from "../content.ts";
import type { EndReason, LimitName, RunResult } from "../events.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import type { ModelErrorData } from "../model.ts";
import type { StopCause } from "./run-signal.ts";
import type { Tally } from "./tally.ts";

/** How a run ended, before it is told. */
export interface End {
  readonly reason: EndReason;
  readonly limit?: LimitName;
  readonly error?: ModelErrorData;
  readonly pending?: readonly ToolCallBlock[];
}

/** What follows a model turn: another one, a rest unless somebody has more to say, or the end. */
export type After =
  | { readonly go: "on" }
  | { readonly go: "rest"; readonly reason: EndReason }
  | { readonly go: "end"; readonly end: End };

export const ON: After = { go: "on" };
export const DONE: After = { go: "rest", reason: "done" };

export function rest(reason: EndReason): After {
  return { go: "rest", reason };
}

export function endOf(end: End): After {
  return { go: "end", end };
}

/** The end of a run that has to stop. */
export function stoppedBy(cause: StopCause | undefined): End {
  return cause === "wallMs" ? { reason: "limit", limit: "wallMs" } : { reason: "aborted" };
}

/** The end after a turn that failed for good. */
export function failedBy(message: AssistantMessage): End {
  return { reason: "error", error: message.error ?? unnamed(message) };
}

/** What a vendor's overflow was, where the turn itself does not say. */
export function overflowOf(message: AssistantMessage): ModelErrorData {
  return message.error ?? unnamed(message);
}

function unnamed(message: AssistantMessage): ModelErrorData {
  return {
    code: message.stopReason === "context_overflow" ? "overflow" : "protocol",
    message: `The turn of ${message.model} ended with ${message.stopReason}.`,
    retryable: false,
    emitted: message.content.length > 0,
    scope: "model",
  };
}

/** What a run tells whoever waits for it. `answer` is the turns that make up the last answer. */
export function resultOf(
  end: End,
  messages: readonly AgentMessage[],
  answer: readonly AssistantMessage[],
  tally: Tally,
): RunResult {
  const { reason, limit, error, pending = [] } = end;
  let text = "";
  for (let i = 0; i < answer.length; i++) {
    const content = answer[i]?.content ?? [];
    for (let at = 0; at < content.length; at++) {
      const block = content[at];
      if (block?.type === "text") text += block.text;
    }
  }
  const result = {
    reason,
    messages,
    message: answer.at(-1),
    text,
    used: { usage: tally.usage, turns: tally.turns, toolCalls: tally.toolCalls },
    pending,
  };
  if (limit !== undefined) return { ...result, limit };
  return error === undefined ? result : { ...result, error };
}
