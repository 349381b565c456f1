import { textOf } from "../content.ts";
import type { RunResult } from "../events.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import type { ModelErrorData } from "../model-error.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { OutOfTime } from "./run-stop.ts";

/** How a run ended, before it is told. */
export type End = Pick<RunResult, "reason" | "limit" | "error"> & Partial<Pick<RunResult, "pending">>;

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

/** The text of the last turn, and of those before it that were cut or paused and went on in it. */
export function answerText(messages: readonly AgentMessage[], last: AssistantMessage | undefined): string {
  if (last === undefined) return "";
  const at = messages.lastIndexOf(last);
  const before = messages.slice(0, at < 0 ? undefined : at).filter((message) => message.role === "assistant");
  const whole = before.findLastIndex((turn) => STOP_REASONS[turn.stopReason]?.text !== "part");
  return [...before.slice(whole + 1), last].map(({ content }) => textOf(content)).join("");
}
