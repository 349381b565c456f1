import type { ToolCallBlock } from "../content.ts";
import { errorText } from "../errors.ts";
import type { ToolOutcome } from "../events.ts";
import { timerMs } from "../timer.ts";
import type { Tool, ToolCall, ToolResult } from "../tool.ts";
import { failed, soundResult } from "./result.ts";
import type { RunSignal } from "./run-signal.ts";
import { texts } from "./texts.ts";

export interface Invoked {
  readonly result: ToolResult;
  readonly outcome: ToolOutcome;
}

/**
 * Runs a tool's body. Resolves whatever the body does: throws, hangs after an abort or its time-out, gives nothing.
 * After an abort or a time-out the body has `graceMs` to give a result of its own.
 */
export function invoke(
  tool: Tool,
  call: ToolCall,
  stop: RunSignal,
  graceMs: number,
  onUpdate: (partial: ToolResult) => void,
): Promise<Invoked> {
  return new Promise((resolve) => {
    const { timeoutMs } = tool;
    const own = timeoutMs === undefined ? undefined : new AbortController();
    let ending: "timeout" | "aborted" | undefined;
    let done = false;
    let limit: NodeJS.Timeout | undefined;
    let grace: NodeJS.Timeout | undefined;

    const settle = (invoked: Invoked): void => {
      if (done) return;
      done = true;
      clearTimeout(limit);
      clearTimeout(grace);
      stop.off(onStop);
      resolve(invoked);
    };
    const end = (why: "timeout" | "aborted", text: string): void => {
      if (done || ending !== undefined) return;
      ending = why;
      own?.abort(new Error(text));
      grace = setTimeout(() => settle({ result: failed(text), outcome: why }), graceMs);
    };
    const onStop = (): void => end("aborted", texts.abortedDuring(call.name));

    if (timeoutMs !== undefined) {
      limit = setTimeout(() => end("timeout", texts.timeout(call.name, timeoutMs)), timerMs(timeoutMs));
    }
    const context = {
      signal: own?.signal ?? stop.signal,
      update(partial: ToolResult): void {
        if (!done) onUpdate(partial);
      },
    };
    const onResult = (result: ToolResult): void => {
      const whole = soundResult(result, call.name);
      settle({ result: whole, outcome: ending ?? (whole.isError === true ? "error" : "ok") });
    };
    const onError = (error: unknown): void => {
      // What an aborted body throws says less than why it was aborted.
      const text =
        ending === "timeout" && timeoutMs !== undefined
          ? texts.timeout(call.name, timeoutMs)
          : errorText(error);
      const shown = ending === "aborted" ? texts.abortedDuring(call.name) : text;
      settle({ result: failed(shown), outcome: ending ?? "error" });
    };
    try {
      // A body written in JavaScript may be synchronous.
      Promise.resolve(tool.execute(call, context)).then(onResult, onError);
    } catch (error) {
      onError(error);
    }
    stop.on(onStop);
  });
}

export function wrong(text: string): Invoked {
  return { result: failed(text), outcome: "error" };
}

export function blocked(text: string): Invoked {
  return { result: failed(text), outcome: "blocked" };
}

export function aborted(call: ToolCallBlock): Invoked {
  return { result: failed(texts.abortedBefore(call.name)), outcome: "aborted" };
}
