import type { Json, TurnSampling } from "@signalbox/channel";
import { z } from "zod";
import { RequestProblem } from "./request.ts";

/** Levels of a JSON Schema; whatever goes through it later must not run out of stack. */
const MOST_LEVELS = 64;
const jsonSchema = z.custom<{ readonly [key: string]: Json | undefined }>(
  (value) =>
    value !== null && typeof value === "object" && !Array.isArray(value) && isShallow(value, MOST_LEVELS),
  { error: `expected an object of at most ${MOST_LEVELS} levels` },
);

function isShallow(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== "object") return true;
  return levels > 0 && Object.values(value).every((item) => isShallow(item, levels - 1));
}

/** How an answer is to be formatted, in the shape of either API. */
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
 * Parameters of both APIs that change what the model writes. What only concerns the vendor is ignored: `store`,
 * `metadata`, `service_tier`, `prompt_cache_key`, `safety_identifier`, `parallel_tool_calls`, `include` and the like.
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

/**
 * Which values of each parameter are served; anything else is refused by name, so that no one believes it had an
 * effect.
 */
const SERVED: { readonly [Name in keyof Fields]: (value: NonNullable<Fields[Name]>) => boolean } = {
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

/** @throws RequestProblem for the first parameter that is not served */
export function refuseUnserved(request: Fields): void {
  for (const name of Object.keys(SERVED) as (keyof typeof SERVED)[]) {
    if (!isServed(name, request)) throw new RequestProblem(whyNot(name), name);
  }
}

function isServed<Name extends keyof Fields>(name: Name, request: Fields): boolean {
  const value = request[name];
  const served = SERVED[name];
  return value === null || value === undefined || served === undefined || served(value);
}

function whyNot(name: string): string {
  if (name === "tools" || name === "functions" || name === "tool_choice" || name === "function_call")
    return "Agents use their own tools; client tools are not supported.";
  if (name === "reasoning_effort" || name === "reasoning")
    return "How much an agent thinks is set in its configuration.";
  return name === "n" ? "Only n = 1 is supported." : `${name} is not supported.`;
}

/** The parameters that are passed on to the model. */
export function samplingOf(request: {
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  readonly seed?: number | null | undefined;
  readonly maxOutputTokens?: number | null | undefined;
  readonly stop?: string | readonly string[] | null | undefined;
  readonly format?: z.output<typeof format> | null | undefined;
}): TurnSampling {
  const { temperature, top_p: topP, seed, maxOutputTokens, stop } = request;
  const json = jsonOf(request.format);
  return {
    ...(isGiven(temperature) ? { temperature } : {}),
    ...(isGiven(topP) ? { topP } : {}),
    ...(isGiven(seed) ? { seed } : {}),
    ...(isGiven(maxOutputTokens) ? { maxOutputTokens } : {}),
    ...(isGiven(stop) ? { stopSequences: [stop].flat() } : {}),
    ...(json === undefined ? {} : { json }),
  };
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

function jsonOf(wanted: z.output<typeof format> | null | undefined): TurnSampling["json"] {
  if (wanted === null || wanted === undefined || wanted.type === "text") return undefined;
  if (wanted.type === "json_object") return { name: "answer" };
  const { name, schema, strict } = wanted;
  return { name, ...(schema === undefined ? {} : { schema }), ...(strict === true ? { strict } : {}) };
}
