import { type InputBlock, type ToolCallBlock, withContent } from "../content.ts";
import { truncateResult } from "../context/truncate-content.ts";
import { reasonOf } from "../errors.ts";
import type { ToolOutcome } from "../events.ts";
import type { JsonValue } from "../json.ts";
import type { ToolResultMessage } from "../messages.ts";
import { isHarmless, type Tool, type ToolResult, toResult } from "../tool.ts";
import type { RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import { validateInput } from "./validate-turn.ts";

export interface CompletedCall {
  readonly result: ToolResult;
  readonly outcome: ToolOutcome;
  /** Execution time of the tool in milliseconds. Absent if it did not run. */
  readonly durationMs?: number;
}

/** Maximum nesting of details. Deeper ones are dropped, including cycles. */
const DETAIL_LEVELS = 256;

/** Creates a failed result. */
export function failed(text: string): ToolResult {
  return { content: [{ type: "text", text: text.toWellFormed() }], isError: true };
}

/** Creates the outcome of a call that failed or did not run. */
export function createFailedCall(outcome: ToolOutcome, text: string): CompletedCall {
  return { result: failed(text), outcome };
}

/** Creates the outcome of a call from the return value of a tool or the host. */
export function createCompletedCall(given: ToolResult | JsonValue | undefined, name: string): CompletedCall {
  const result = validateResult(given, name);
  return { result, outcome: result.isError === true ? "error" : "ok" };
}

/** Creates the outcome of a call that the run did not execute. */
export function createAbortedCall({ name }: ToolCallBlock): CompletedCall {
  return createFailedCall("aborted", texts.abortedBefore(name));
}

/** Creates the outcome of a call from an earlier run that is not run again. */
export function createInterruptedCall(tool: Tool | undefined): CompletedCall {
  const canRepeat = tool !== undefined && isHarmless(tool.effects);
  return createFailedCall("skipped", canRepeat ? texts.interruptedHarmless : texts.interrupted);
}

/**
 * Converts the return value of a tool or a hook to a valid result. Any value that is not a result becomes JSON. Invalid
 * blocks are replaced with a note. If there are no valid blocks, the result is a failure. Details that JSON cannot
 * express (a cycle, a bigint) are dropped, since no host could store them. Lone surrogates become U+FFFD. Never throws.
 */
export function validateResult(output: ToolResult | JsonValue | undefined, name: string): ToolResult {
  try {
    if (output === undefined || output === null) return failed(texts.noContent(name));
    const result = toResult(output);
    const { content } = result;
    if (result.details !== undefined && !isStorable(result.details, DETAIL_LEVELS)) {
      const { details: _dropped, ...rest } = result;
      return validateResult(rest, name);
    }
    if (content.length === 0) return { ...result, content: [{ type: "text", text: texts.emptyContent }] };
    const readable = content.flatMap((block: InputBlock) => validateInput(block) ?? []);
    const unreadable = content.length - readable.length;
    if (unreadable === 0) return withContent(result, readable);
    const note: InputBlock = { type: "text", text: texts.badContent(name, unreadable) };
    return { ...result, content: [...readable, note], ...(readable.length === 0 ? { isError: true } : {}) };
  } catch {
    // The object throws when its properties are read.
    return failed(texts.noContent(name));
  }
}

function isStorable(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  return levels > 0 && Object.values(value).every((item) => isStorable(item, levels - 1));
}

/** Creates the message for a result. A tool may return an object that cannot be read twice. */
export function createResultMessage(
  call: ToolCallBlock,
  { result, durationMs }: Pick<CompletedCall, "result" | "durationMs">,
  run: Pick<RunState, "config" | "tools" | "resultChars" | "now">,
): ToolResultMessage {
  try {
    const { config, tools, resultChars, now } = run;
    const keep = tools.get(call.name)?.truncate;
    return {
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: truncateResult(result.content, resultChars, config.model.contextWindow, keep),
      details: result.details,
      isError: result.isError === true,
      durationMs,
      timestamp: now(),
    };
  } catch (error) {
    return createResultMessage(call, { result: failed(reasonOf(error)) }, run);
  }
}
