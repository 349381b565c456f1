import { textOf } from "../content.ts";
import type { RunResult } from "../events.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import type { ModelErrorData } from "../model-error.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { startTimer } from "./race.ts";

/** The fields of a result that describe how the run ended. */
export type End = Pick<RunResult, "reason" | "limit" | "error"> & Partial<Pick<RunResult, "pending">>;

/** Aborts a run when the host's signal fires, when `abort` is called, or at the time limit. */
export class RunStop extends AbortController {
  readonly #outer: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #isOutOfTime = false;

  constructor(outer: AbortSignal | undefined, wallMs: number | undefined) {
    super();
    this.#outer = outer;
    outer?.addEventListener("abort", this.#onOuter);
    if (outer?.aborted === true) this.#onOuter();
    if (wallMs !== undefined) this.#timer = startTimer(() => this.#onTime(wallMs), wallMs);
  }

  /** The reason why the run was stopped. */
  get end(): End {
    return this.#isOutOfTime ? { reason: "limit", limit: "wallMs" } : { reason: "aborted" };
  }

  /** Removes the listener from the host's signal. */
  dispose(): void {
    this.#outer?.removeEventListener("abort", this.#onOuter);
    clearTimeout(this.#timer);
  }

  readonly #onOuter = (): void => this.abort(this.#outer?.reason);

  #onTime(wallMs: number): void {
    this.#isOutOfTime = !this.signal.aborted;
    this.abort(new Error(`The run took longer than ${wallMs} ms.`));
  }
}

/** Returns the error of a failed turn, even if the turn does not contain one. */
export function getTurnError(message: AssistantMessage): ModelErrorData {
  const { error, model, stopReason, content } = message;
  if (error !== undefined) return error;
  const code = stopReason === "context_overflow" ? "overflow" : "protocol";
  const text = `The turn of ${model} ended with ${stopReason}.`;
  return { code, message: text, retryable: false, emitted: content.length > 0, scope: "model" };
}

/** Returns the text of the last turn, together with the truncated or paused turns that it continues. */
export function getAnswerText(messages: readonly AgentMessage[], last: AssistantMessage | undefined): string {
  const turns = messages.filter((message) => message.role === "assistant");
  if (last !== undefined && turns.at(-1) !== last) turns.push(last);
  const whole = turns.slice(0, -1).findLastIndex((turn) => STOP_REASONS[turn.stopReason]?.text !== "part");
  return turns.slice(whole + 1).reduce((text, { content }) => text + textOf(content), "");
}
