import {
  estimateRequest,
  type JsonObject,
  type JsonOutput,
  type StreamOptions,
  type SystemPrompt,
  type ThinkingLevel,
  type ToolSpec,
} from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { unlessEmpty, withoutUndefined } from "./json.ts";

/** Every thinking level, lowest first. */
export const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

/** The thinking budget of each level in tokens. If thinking counts as output, the output limit grows by it. */
export const THINKING_TOKENS: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 24_576,
  max: 49_152,
};

const DEFAULT_OUTPUT_TOKENS = 8_192;

/**
 * Returns the level to request: the requested one if the model supports it, otherwise the next lower one. With the
 * quirk `thinkingAlwaysOn`, never lower than the model's lowest level. `undefined` if the model cannot think.
 */
export function thinkingLevel({ model, options, warn }: ModelRequest): ThinkingLevel | undefined {
  const { thinking: wanted = "off" } = options;
  const levels = model.thinking.filter((level) => level !== "off");
  const lowest = (model.quirks?.thinkingAlwaysOn === true && levels[0]) || "off";
  const lower = levels.filter((level) => LEVELS.indexOf(level) <= LEVELS.indexOf(wanted));
  const level = lower.at(-1) ?? lowest;
  if (level !== wanted) warn("thinking_clamped", `Thinking "${wanted}" became "${level}" for ${model.id}.`);
  return model.thinking.length === 0 ? undefined : level;
}

/** Factor by which the token estimate of a prompt may be too low. */
const ESTIMATE_MARGIN = 1.1;
/** Minimum output limit that is requested if the window is full, in tokens. The vendor then reports the overflow. */
const MIN_OUTPUT_TOKENS = 256;

/**
 * Returns the limit on output tokens. Thinking counts as output, so by default the limit grows with the level. Prompt
 * and answer share the window, so the limit is at most the room that the prompt leaves.
 */
export function outputTokens(
  { model, context, options }: ModelRequest,
  level: ThinkingLevel = "off",
): number {
  const wanted = Math.min(
    options.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS + THINKING_TOKENS[level],
    model.maxOutputTokens,
  );
  const room = model.contextWindow - Math.ceil(estimateRequest(context) * ESTIMATE_MARGIN);
  return Math.max(1, Math.min(wanted, Math.max(room, MIN_OUTPUT_TOKENS)));
}

type Sampling = "temperature" | "top_p" | "seed";

/**
 * Returns the sampling options under the vendor's names. Options that are not `accepted` are dropped with a warning.
 */
export function samplingFor(
  { model, warn, options: { temperature, topP: top_p, seed } }: ModelRequest,
  accepted: readonly Sampling[],
): { readonly [Name in Sampling]?: number } {
  const wanted = withoutUndefined({ temperature, top_p, seed });
  for (const name of ["temperature", "top_p", "seed"] as const) {
    if (wanted[name] === undefined || accepted.includes(name)) continue;
    warn(`${name}_dropped`, `${model.id} does not accept ${name} in this request, so it was left out.`);
    delete wanted[name];
  }
  return wanted;
}

/** Returns the first `max` stop sequences. The others are dropped with a warning. */
export function stopSequences({ model, options, warn }: ModelRequest, max: number): string[] | undefined {
  const { stopSequences: all = [] } = options;
  if (all.length > max) {
    const accepted = max === 0 ? "none" : `at most ${max}`;
    warn(
      "stop_dropped",
      `${all.length - max} stop sequence(s) were left out: ${model.id} accepts ${accepted}.`,
    );
  }
  return unlessEmpty(all.slice(0, max));
}

/** Anthropic's cache breakpoint. Other servers accept it as well. */
export interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: "1h";
}

export function cacheControl({ cache }: StreamOptions): CacheControl | undefined {
  if (cache === "none") return undefined;
  return { type: "ephemeral", ttl: cache === "long" ? "1h" : undefined };
}

/**
 * Asks for JSON in the system prompt, for vendors without an option for JSON or for schemas.
 *
 * @param isOnlyWay true if nothing else in the request asks for JSON, so that prose in the answer is a failure
 */
export function askForJson(request: ModelRequest, json: JsonOutput, isOnlyWay = true): SystemPrompt {
  const { model, context, warn, expectJson } = request;
  const { schema } = json;
  const what = schema === undefined ? "JSON" : "a JSON Schema";
  warn("json_dropped", `${model.id} has no option for ${what} in this request, so the prompt asks for it.`);
  if (isOnlyWay) expectJson();
  return withJsonInstruction(context.system, schema);
}

/** OpenAI rejects `json_object` unless the prompt contains the word "JSON". */
export function mentionJson({ context }: ModelRequest): SystemPrompt {
  const { system, messages } = context;
  return /json/i.test(JSON.stringify([system, messages])) ? system : withJsonInstruction(system);
}

function withJsonInstruction({ stable, volatile }: SystemPrompt, schema?: JsonObject): SystemPrompt {
  const value =
    schema === undefined
      ? "one JSON object"
      : `one JSON value that matches this JSON Schema: ${JSON.stringify(schema)}`;
  const instruction = `Answer with ${value}. Write nothing else, and no code fence.`;
  return { stable, volatile: [volatile, instruction].filter(Boolean).join("\n\n") };
}

/** Returns the system prompt as one text, or `undefined` if it is empty. */
export function systemText({ stable, volatile }: SystemPrompt): string | undefined {
  return [stable, volatile].filter(Boolean).join("\n\n") || undefined;
}

/** Returns a tool in OpenAI's format. */
export function toFunction({ name, description, inputSchema }: ToolSpec): {
  name: string;
  description: string;
  parameters: JsonObject;
} {
  return { name, description, parameters: { ...inputSchema } };
}
