import { type ToolCallBlock, textOf } from "../content.ts";
import type { EndReason, LimitName, RunResult, RunUsage } from "../events.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import type { ModelErrorData } from "../model-error.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { OutOfTime } from "./run-stop.ts";

/** How a run ended, before it is told. */
export interface End {
  readonly reason: EndReason;
  readonly limit?: LimitName;
  readonly error?: ModelErrorData;
  readonly pending?: readonly ToolCallBlock[];
}

/** The end of a run that had to stop. */
export function stoppedBy({ reason }: AbortSignal): End {
  return reason instanceof OutOfTime ? { reason: "limit", limit: "wallMs" } : { reason: "aborted" };
}

/** What went wrong with a turn, also where the turn itself does not say. */
export function errorOf(message: AssistantMessage): ModelErrorData {
  return (
    message.error ?? {
      code: message.stopReason === "context_overflow" ? "overflow" : "protocol",
      message: `The turn of ${message.model} ended with ${message.stopReason}.`,
      retryable: false,
      emitted: message.content.length > 0,
      scope: "model",
    }
  );
}

/** What a run tells whoever waits for it. `last` is its last turn. */
export function resultOf(
  { reason, limit, error, pending = [] }: End,
  messages: readonly AgentMessage[],
  last: AssistantMessage | undefined,
  used: RunUsage,
): RunResult {
  return {
    reason,
    messages,
    message: last,
    text: answerText(messages, last),
    used,
    pending,
    ...(limit === undefined ? {} : { limit }),
    ...(error === undefined ? {} : { error }),
  };
}

/** The text of the last turn, and of those before it that were cut or paused and went on in it. */
function answerText(messages: readonly AgentMessage[], last: AssistantMessage | undefined): string {
  if (last === undefined) return "";
  const at = messages.lastIndexOf(last);
  const before = messages.slice(0, at < 0 ? undefined : at).filter((message) => message.role === "assistant");
  const whole = before.findLastIndex((turn) => STOP_REASONS[turn.stopReason]?.text !== "part");
  return [...before.slice(whole + 1), last].map(({ content }) => textOf(content)).join("");
}
