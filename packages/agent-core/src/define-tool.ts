import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject, JsonValue } from "./json.ts";
import type { InputSchema, Tool, ToolContext, ToolResult } from "./tool.ts";
import type { ToolEffects } from "./tools/effects.ts";

/** A tool's arguments: any Standard Schema that offers its JSON Schema (zod and others), or a JSON Schema. */
export type ToolInput = StandardSchemaV1<unknown, unknown> | JsonObject;

/**
 * What `execute` gets: the output of a Standard Schema, or the value a literal JSON Schema describes (`type`, `enum`,
 * `const`, `properties`, `required`, `items`; anything else is a `JsonValue`).
 */
export type ToolArgs<Input> =
  Input extends StandardSchemaV1<unknown, infer Output>
    ? Output
    : Input extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Input extends { readonly const: infer Value }
        ? Value
        : Input extends { readonly type: infer Type }
          ? JsonSchemaValue<Type, Input>
          : JsonValue;

type JsonSchemaValue<Type, Input> = Type extends "object"
  ? ObjectArgs<Input>
  : Type extends "array"
    ? Input extends { readonly items: infer Item }
      ? readonly ToolArgs<Item>[]
      : readonly JsonValue[]
    : Type extends "string"
      ? string
      : Type extends "number" | "integer"
        ? number
        : Type extends "boolean"
          ? boolean
          : Type extends "null"
            ? null
            : JsonValue;

type ObjectArgs<Input> = Input extends { readonly properties: infer Properties }
  ? { readonly [Key in keyof Properties & RequiredKeys<Input>]: ToolArgs<Properties[Key]> } & {
      readonly [Key in Exclude<keyof Properties, RequiredKeys<Input>>]?: ToolArgs<Properties[Key]>;
    }
  : JsonObject;

type RequiredKeys<Input> = Input extends { readonly required: readonly (infer Key)[] } ? Key : never;

/** What a tool of `defineTool` gives: a text for the model, or a whole result. */
export type ToolAnswer<Details extends JsonValue = JsonValue> = string | ToolResult<Details>;

export interface ToolDefinition<Input extends ToolInput, Details extends JsonValue = JsonValue> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** For the model: what the tool does, and when to use it. */
  readonly description: string;
  readonly input: Input & InputSchema<ToolArgs<Input>>;
  /** What running it again would do; default `external`, so that it is never repeated blindly. */
  readonly effects?: ToolEffects;
  /** `parallel` calls of one turn run at once; default `sequential`. */
  readonly execution?: "sequential" | "parallel";
  /** Milliseconds; default none. */
  readonly timeoutMs?: number;
  /** How a too long result is cut, as in `Tool`. */
  readonly truncate?: "head" | "head-tail";
  /** Does it. What it throws is a failure the model reads. */
  execute(
    args: ToolArgs<Input>,
    context: ToolContext & { readonly callId: string },
  ): ToolAnswer<Details> | Promise<ToolAnswer<Details>>;
}

/** Makes a tool whose arguments are typed by its schema, and which may answer with a text. */
export function defineTool<const Input extends ToolInput, Details extends JsonValue = JsonValue>(
  definition: ToolDefinition<Input, Details>,
): Tool<ToolArgs<Input>, Details> {
  const { input, effects = "external", ...rest } = definition;
  return {
    ...rest,
    inputSchema: input,
    effects,
    async execute({ id, args }, context) {
      const answer = await definition.execute(args, { ...context, callId: id });
      return typeof answer === "string" ? { content: [{ type: "text", text: answer }] } : answer;
    },
  };
}
