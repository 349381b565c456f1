import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { InputBlock } from "./content.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** Schema of a tool's arguments: a JSON Schema, or a Standard Schema (zod and others) that provides its JSON Schema. */
export type InputSchema<Input = unknown> = StandardSchemaV1<unknown, Input> | JsonObject;

/**
 * The effect of running a call twice. `none`: the call only reads. `idempotent`: the resulting state is the same.
 * `keyed`: the call takes effect once per call id, so it can run again under the same id but not under another one.
 * `external`: the call takes effect again, so it is never repeated blindly. Calls with the last two effects are
 * recorded before they run.
 */
export type ToolEffects = "none" | "idempotent" | "keyed" | "external";

/** Returns true if the model can repeat a call under another id without checking its outcome. */
export function isHarmless(effects: ToolEffects): boolean {
  return effects === "none" || effects === "idempotent";
}

/** A validated call. */
export interface ToolCall<Args = unknown> {
  readonly id: string;
  readonly name: string;
  readonly args: Args;
}

/** The context of a call. */
export interface ToolContext {
  /** Aborts with the run and at the tool's timeout. */
  readonly signal: AbortSignal;
  /**
   * Maximum length of the result in characters. Depends on the model's window. Longer results are truncated
   * (`Tool.truncate`).
   */
  readonly resultChars: number;
  /** Reports progress to viewers, never to the model. While a viewer is busy, only the latest report is kept. */
  update(partial: ToolResult): void;
}

export interface ToolResult<Details extends JsonValue = JsonValue> {
  /** Content for the model. */
  readonly content: readonly InputBlock[];
  /** Data for programs. */
  readonly details?: Details;
  /** Marks a failure for the model. Throwing has the same effect. */
  readonly isError?: boolean;
}

export interface Tool<Args = unknown, Details extends JsonValue = JsonValue> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** Explains the tool and its use to the model. */
  readonly description: string;
  readonly inputSchema: InputSchema<Args>;
  readonly effects: ToolEffects;
  /** `parallel` calls of one turn run at once. Default: `sequential`. Results keep the order of the calls. */
  readonly execution?: "sequential" | "parallel";
  /** Time limit for the call in milliseconds. An asynchronous schema gets the same limit. Default: none. */
  readonly timeoutMs?: number;
  /**
   * The parts of a long result that are kept: `head` keeps the start, `head_tail` 70 % start and 30 % end. Default:
   * `head_tail` if the end matters (an error, a summary, the end of a JSON document), else `head`.
   */
  readonly truncate?: "head" | "head_tail";
  execute(call: ToolCall<Args>, context: ToolContext): Promise<ToolResult<Details>>;
}

/** Returns true if a returned value is a complete result and not data for the model. */
function isResult(value: unknown): value is ToolResult {
  return isJsonObject(value) && Array.isArray(value.content);
}

/** Converts a returned value to a result: a string as is, any other value as JSON. */
export function toResult<Details extends JsonValue>(
  output: ToolResult<Details> | JsonValue,
): ToolResult<Details>;
export function toResult(output: ToolResult | JsonValue): ToolResult {
  if (isResult(output)) return output;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return { content: [{ type: "text", text }] };
}
