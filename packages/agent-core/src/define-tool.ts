import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject, JsonValue } from "./json.ts";
import {
  type InputSchema,
  type Tool,
  type ToolContext,
  type ToolEffects,
  type ToolResult,
  toResult,
} from "./tool.ts";
import { checkSchema } from "./tools/tool-set.ts";

/**
 * The arguments of `execute`: the output of a Standard Schema, or the value described by a literal JSON Schema (`type`,
 * `enum`, `const`, `properties`, `required`, `items`; anything else is a `JsonValue`).
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

/** The return value of a tool: a string or any other JSON value for the model, or a complete result. */
export type ToolOutput<Details extends JsonValue = JsonValue> = ToolResult<Details> | JsonValue;

/** The context of a call to a tool made by `defineTool`. */
export interface DefinedToolContext extends Omit<ToolContext, "update"> {
  readonly callId: string;
  /** Reports progress to viewers, never to the model. While a viewer is busy, only the latest report is kept. */
  update(progress: ToolOutput): void;
}

export interface ToolDefinition<Input extends InputSchema, Details extends JsonValue = JsonValue>
  extends Pick<Tool, "name" | "description" | "execution" | "timeoutMs" | "truncate"> {
  /** A JSON Schema, or a Standard Schema (zod and others) that provides its JSON Schema. */
  readonly input: Input & InputSchema<ToolArgs<Input>>;
  /** The effect of running a call twice. Default: `external`, so that a call is never repeated blindly. */
  readonly effects?: ToolEffects;
  /** Runs a call. If it throws, the model receives the error as the result. */
  execute(
    args: ToolArgs<Input>,
    context: DefinedToolContext,
  ): ToolOutput<Details> | Promise<ToolOutput<Details>>;
}

/**
 * Creates a tool whose arguments are typed by its schema.
 *
 * @throws AgentError `invalid_tool` if there is no schema
 *
 * @example
 * ```ts
 * const weather = defineTool({
 *   name: "weather",
 *   description: "Returns the weather of a city.",
 *   input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *   effects: "none",
 *   execute: async ({ city }, { update }) => {
 *     update(`Asking about ${city} …`);
 *     return { city, celsius: 21 };
 *   },
 * });
 * ```
 */
export function defineTool<const Input extends InputSchema, Details extends JsonValue = JsonValue>(
  definition: ToolDefinition<Input, Details>,
): Tool<ToolArgs<Input>, Details> {
  const { input, effects = "external", execute: _execute, ...rest } = definition;
  checkSchema(definition.name, input);
  return {
    ...rest,
    inputSchema: input,
    effects,
    async execute({ id, args }, context) {
      const update = (progress: ToolOutput): void => context.update(toResult(progress));
      const output = await definition.execute(args, { ...context, update, callId: id });
      // A tool written without types may return nothing. The loop reports that to the model.
      return output === undefined ? output : toResult(output);
    },
  };
}
