import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { InputBlock } from "./content.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** A tool's arguments: a Standard Schema (zod and others; it must also offer its JSON Schema) or a JSON Schema. */
export type InputSchema<Input = unknown> = StandardSchemaV1<unknown, Input> | JsonObject;

/**
 * What running a tool again would do: `none` reads only; `idempotent` gives the same state again; `keyed` takes effect
 * once for each id of a call, so that a call can be run again, but not made again under another id; `external` reaches
 * outside and is never repeated blindly. Calls of the last two are to be on record before they run.
 */
export type ToolEffects = "none" | "idempotent" | "keyed" | "external";

/** Whether the model may make a call again, under another id, without checking its outcome. */
export function isHarmless(effects: ToolEffects): boolean {
  return effects === "none" || effects === "idempotent";
}

/** One validated call. */
export interface ToolCall<Args = unknown> {
  readonly id: string;
  readonly name: string;
  readonly args: Args;
}

/** What a tool body gets besides its arguments. */
export interface ToolContext {
  /** Ends on abort, on the tool's time-out and on the run's limits. */
  readonly signal: AbortSignal;
  /** Characters the result may have, by the window of the model; what is longer is cut (`Tool.truncate`). */
  readonly resultChars: number;
  /** Reports progress; shown to viewers, never to the model. While a viewer is busy only the latest report is kept. */
  update(partial: ToolResult): void;
}

export interface ToolResult<Details extends JsonValue = JsonValue> {
  /** For the model. */
  readonly content: readonly InputBlock[];
  /** For programs. */
  readonly details?: Details;
  /** Marks a failure for the model; throwing has the same effect. */
  readonly isError?: boolean;
}

export interface Tool<Args = unknown, Details extends JsonValue = JsonValue> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** For the model: what the tool does, and when to use it. */
  readonly description: string;
  readonly inputSchema: InputSchema<Args>;
  readonly effects: ToolEffects;
  /** `parallel` calls of one turn run at once; default `sequential`. Results keep the order of the calls. */
  readonly execution?: "sequential" | "parallel";
  /** Milliseconds for the body, and as many for a schema whose check is asynchronous; default none. */
  readonly timeoutMs?: number;
  /**
   * How a too long result is cut: `head` keeps the start, `head-tail` 70 % of the start and 30 % of the end. Default:
   * `head-tail` where the end matters (an error, a summary, the close of a JSON document), else `head`.
   */
  readonly truncate?: "head" | "head-tail";
  execute(call: ToolCall<Args>, context: ToolContext): Promise<ToolResult<Details>>;
}

/** Whether a value that a tool returned is a whole result and not data for the model. */
function isResult(value: unknown): value is ToolResult {
  return isJsonObject(value) && Array.isArray(value.content);
}

/** Converts what a tool returned to a result: a text as it is, any other value as JSON. */
export function toResult<Details extends JsonValue>(
  output: ToolResult<Details> | JsonValue,
): ToolResult<Details>;
export function toResult(output: ToolResult | JsonValue): ToolResult {
  if (isResult(output)) return output;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return { content: [{ type: "text", text }] };
}
