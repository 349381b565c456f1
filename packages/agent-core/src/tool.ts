import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { InputBlock } from "./content.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** Schema of a tool's arguments: a Standard Schema (zod and others) that offers its JSON Schema, or a JSON Schema. */
export type InputSchema<Input = unknown> = StandardSchemaV1<unknown, Input> | JsonObject;

/**
 * The effect of running a call twice. `none`: it only reads. `idempotent`: the state is the same. `keyed`: it takes
 * effect once per call id, so it can be run again, but not made again under another id. `external`: it takes effect
 * again, so it is never repeated blindly. Calls of the last two are recorded before they run.
 */
export type ToolEffects = "none" | "idempotent" | "keyed" | "external";

/** Returns true if the model may repeat a call under another id without checking its outcome. */
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
   * Maximum length of the result in characters, depending on the model's window. Longer results are cut
   * (`Tool.truncate`).
   */
  readonly resultChars: number;
  /** Reports progress to viewers, never to the model. While a viewer is busy, only the latest report is kept. */
  update(partial: ToolResult): void;
}

export interface ToolResult<Details extends JsonValue = JsonValue> {
  /** For the model. */
  readonly content: readonly InputBlock[];
  /** For programs. */
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
  /** Milliseconds for the call, and as many for an asynchronous schema. Default: none. */
  readonly timeoutMs?: number;
  /**
   * The parts of a long result that are kept: `head` keeps the start, `head_tail` 70 % start and 30 % end. Default:
   * `head_tail` if the end matters (an error, a summary, the end of a JSON document), else `head`.
   */
  readonly truncate?: "head" | "head_tail";
  execute(call: ToolCall<Args>, context: ToolContext): Promise<ToolResult<Details>>;
}

/** Returns true if a returned value is a whole result and not data for the model. */
function isResult(value: unknown): value is ToolResult {
  return isJsonObject(value) && Array.isArray(value.content);
}

/** Converts a returned value to a result: a text as it is, any other value as JSON. */
export function toResult<Details extends JsonValue>(
  output: ToolResult<Details> | JsonValue,
): ToolResult<Details>;
export function toResult(output: ToolResult | JsonValue): ToolResult {
  if (isResult(output)) return output;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return { content: [{ type: "text", text }] };
}
