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

/**
 * What a run tells whoever waits for it. `last` is its last turn; those before it that were cut or paused, and went on,
 * are part of its answer.
 */
export function resultOf(
  end: End,
  messages: readonly AgentMessage[],
  last: AssistantMessage | undefined,
  tally: Tally,
): RunResult {
  const { reason, limit, error, pending = [] } = end;
  let text = last === undefined ? "" : textOf(last);
  const at = last === undefined ? -1 : messages.lastIndexOf(last);
  for (let i = (at < 0 ? messages.length : at) - 1; i >= 0; i--) {
    const message = messages[i];
    if (message?.role !== "assistant") continue;
    if (message.stopReason !== "max_tokens" && message.stopReason !== "pause") break;
    text = textOf(message) + text;
  }
  const result = {
    reason,
    messages,
    message: last,
    text,
    used: { usage: tally.usage, turns: tally.turns, toolCalls: tally.toolCalls },
    pending,
  };
  if (limit !== undefined) return { ...result, limit };
  return error === undefined ? result : { ...result, error };
}

function textOf({ content }: AssistantMessage): string {
  let text = "";
  for (let i = 0; i < content.length; i++) {
    const block = content[i];
    if (block?.type === "text") text += block.text;
  }
  return text;
}
