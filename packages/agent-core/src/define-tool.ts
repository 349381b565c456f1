import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject, JsonValue } from "./json.ts";
import type { InputSchema, Tool, ToolContext, ToolEffects, ToolResult } from "./tool.ts";

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

export interface ToolDefinition<Input extends InputSchema, Details extends JsonValue = JsonValue>
  extends Pick<Tool, "name" | "description" | "execution" | "timeoutMs" | "truncate"> {
  readonly input: Input & InputSchema<ToolArgs<Input>>;
  /** What running it again would do; default `external`, so that it is never repeated blindly. */
  readonly effects?: ToolEffects;
  /** Does it. What it throws is a failure the model reads. */
  execute(
    args: ToolArgs<Input>,
    context: ToolContext & { readonly callId: string },
  ): ToolAnswer<Details> | Promise<ToolAnswer<Details>>;
}

/** Makes a tool whose arguments are typed by its schema, and which may answer with a text. */
export function defineTool<const Input extends InputSchema, Details extends JsonValue = JsonValue>(
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
