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

export interface SettledCall {
  readonly result: ToolResult;
  readonly outcome: ToolOutcome;
  /** Milliseconds that the tool worked; absent where it was not carried out. */
  readonly durationMs?: number;
}

/** More levels than anybody looks into; a cycle has more. */
const DETAIL_LEVELS = 256;

/** A result that says what went wrong. */
export function failed(text: string): ToolResult {
  return { content: [{ type: "text", text: text.toWellFormed() }], isError: true };
}

/** A call that did not do what it should. */
export function failedCall(outcome: ToolOutcome, text: string): SettledCall {
  return { result: failed(text), outcome };
}

/** A call that came to what a tool or the host gave. */
export function settledCall(given: ToolResult | JsonValue | undefined, name: string): SettledCall {
  const result = validateResult(given, name);
  return { result, outcome: result.isError === true ? "error" : "ok" };
}

/** A call that the run ended before reaching. */
export function abortedCall({ name }: ToolCallBlock): SettledCall {
  return failedCall("aborted", texts.abortedBefore(name));
}

/** A call of an earlier run that is not run again. */
export function interruptedCall(tool: Tool | undefined): SettledCall {
  const canRepeat = tool !== undefined && isHarmless(tool.effects);
  return failedCall("skipped", canRepeat ? texts.interruptedHarmless : texts.interrupted);
}

/**
 * The return value of a tool's body or a hook, as a result. A part that is no block is replaced by a note that says so;
 * if none is a block, the result is a failure. Details that JSON cannot express (a cycle, a bigint) are left out, since
 * no host could store them. Half of a surrogate pair becomes U+FFFD. Never throws.
 */
export function validateResult(output: ToolResult | JsonValue | undefined, name: string): ToolResult {
  try {
    if (output === undefined || output === null) return failed(texts.noContent(name));
    const result = toResult(output);
    const { content } = result;
    if (result.details !== undefined && !canBeKept(result.details, DETAIL_LEVELS)) {
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
    // An object that refuses to be read.
    return failed(texts.noContent(name));
  }
}

function canBeKept(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  return levels > 0 && Object.values(value).every((item) => canBeKept(item, levels - 1));
}

/** The result as it becomes part of the conversation. A tool may have given an object that cannot be read twice. */
export function resultMessage(
  call: ToolCallBlock,
  { result, durationMs }: Pick<SettledCall, "result" | "durationMs">,
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
      ...(result.details === undefined ? {} : { details: result.details }),
      isError: result.isError === true,
      ...(durationMs === undefined ? {} : { durationMs }),
      timestamp: now(),
    };
  } catch (error) {
    return resultMessage(call, { result: failed(reasonOf(error)) }, run);
  }
}
