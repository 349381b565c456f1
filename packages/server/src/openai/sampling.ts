import type { Json, TurnSampling } from "@signalbox/channel";
import { z } from "zod";
import { InvalidRequestError } from "./submission.ts";

/** Nesting levels of a JSON Schema. Recursive code that handles the schema later must not overflow the stack. */
const MAX_LEVELS = 64;
const jsonSchema = z.custom<{ readonly [key: string]: Json | undefined }>(
  (value) =>
    value !== null && typeof value === "object" && !Array.isArray(value) && isShallow(value, MAX_LEVELS),
  { error: `expected an object with at most ${MAX_LEVELS} levels` },
);

function isShallow(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== "object") return true;
  return levels > 0 && Object.values(value).every((item) => isShallow(item, levels - 1));
}

/** The response format, in the shape of the Responses API. */
export const format = z.union([
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    name: z.string().min(1).max(64),
    schema: jsonSchema.optional(),
    strict: z.boolean().nullish(),
  }),
]);

/**
 * Parameters of both APIs that affect the output. Other parameters, such as `store`, `metadata`, `service_tier`,
 * `prompt_cache_key`, `safety_identifier`, `parallel_tool_calls` and `include`, are ignored.
 */
export const samplingFields = {
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.number().nullish(),
  seed: z.int().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  logit_bias: z.looseObject({}).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().nullish(),
  reasoning_effort: z.string().nullish(),
  reasoning: z.object({ effort: z.string().nullish() }).nullish(),
  tools: z.array(z.unknown()).nullish(),
  functions: z.array(z.unknown()).nullish(),
  tool_choice: z.unknown().optional(),
  audio: z.unknown().optional(),
  modalities: z.array(z.string()).nullish(),
  verbosity: z.string().nullish(),
  prediction: z.unknown().optional(),
  web_search_options: z.unknown().optional(),
  function_call: z.unknown().optional(),
  max_tool_calls: z.number().nullish(),
  truncation: z.string().nullish(),
  prompt: z.unknown().optional(),
};

type Fields = z.output<z.ZodObject<typeof samplingFields>>;

/** Supported values of each parameter. Other values are refused, because ignoring them would mislead the client. */
const SUPPORTED: { readonly [Name in keyof Fields]: (value: NonNullable<Fields[Name]>) => boolean } = {
  n: (value) => value === 1,
  presence_penalty: (value) => value === 0,
  frequency_penalty: (value) => value === 0,
  logit_bias: (value) => Object.keys(value).length === 0,
  logprobs: (value) => !value,
  top_logprobs: (value) => value === 0,
  reasoning_effort: () => false,
  reasoning: ({ effort }) => effort === null || effort === undefined,
  tools: (value) => value.length === 0,
  functions: (value) => value.length === 0,
  tool_choice: (value) => value === "auto" || value === "none",
  audio: () => false,
  modalities: (value) => value.every((each) => each === "text"),
  verbosity: (value) => value === "medium",
  prediction: () => false,
  web_search_options: () => false,
  function_call: (value) => value === "auto" || value === "none",
  max_tool_calls: () => false,
  truncation: (value) => value === "disabled",
  prompt: () => false,
};

/** @throws {InvalidRequestError} for the first parameter that is not supported */
export function refuseUnsupported(request: Fields): void {
  for (const name of Object.keys(SUPPORTED) as (keyof typeof SUPPORTED)[]) {
    if (!isSupported(name, request)) throw new InvalidRequestError(explain(name), name);
  }
}

function isSupported<Name extends keyof Fields>(name: Name, request: Fields): boolean {
  const value = request[name];
  const accepts = SUPPORTED[name];
  return value === null || value === undefined || accepts === undefined || accepts(value);
}

function explain(name: string): string {
  if (name === "tools" || name === "functions" || name === "tool_choice" || name === "function_call")
    return "Agents use their own tools; client tools are not supported.";
  if (name === "reasoning_effort" || name === "reasoning")
    return "The reasoning effort of an agent is set in the gateway's configuration.";
  return name === "n" ? "Only n = 1 is supported." : `${name} is not supported.`;
}

/** Returns the parameters that are passed to the model. */
export function getSampling(request: {
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly seed?: number | null;
  readonly maxOutputTokens?: number | null;
  readonly stop?: string | readonly string[] | null;
  readonly format?: z.output<typeof format> | null;
}): TurnSampling {
  const { temperature, top_p: topP, seed, maxOutputTokens, stop } = request;
  const json = getJsonFormat(request.format);
  return {
    ...(isPresent(temperature) ? { temperature } : {}),
    ...(isPresent(topP) ? { topP } : {}),
    ...(isPresent(seed) ? { seed } : {}),
    ...(isPresent(maxOutputTokens) ? { maxOutputTokens } : {}),
    ...(isPresent(stop) ? { stopSequences: [stop].flat() } : {}),
    json,
  };
}

function isPresent<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

function getJsonFormat(requested: z.output<typeof format> | null | undefined): TurnSampling["json"] {
  if (requested === null || requested === undefined || requested.type === "text") return undefined;
  if (requested.type === "json_object") return { name: "answer" };
  const { name, schema, strict } = requested;
  return { name, schema, ...(strict === true ? { strict } : {}) };
}
