import type { JsonObject, StreamOptions, SystemPrompt, ThinkingLevel, ToolSpec } from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { stated, unlessEmpty } from "./json.ts";

/** Every level, lowest first. */
export const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

/** Tokens to think with at a level, for models that take a budget, and room for it where thinking counts as output. */
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
 * The level to ask for: the same where the model knows it, else the nearest lower one; with `thinkingAlwaysOn` never
 * below its lowest. `undefined` where it cannot think at all, so that nothing is to be said about it.
 */
export function thinkingLevel({ model, options, warn }: ModelRequest): ThinkingLevel | undefined {
  const { thinking: wanted = "off" } = options;
  const levels = model.thinking.filter((level) => level !== "off");
  const least = (model.quirks?.thinkingAlwaysOn === true && levels[0]) || "off";
  const lower = levels.filter((level) => LEVELS.indexOf(level) <= LEVELS.indexOf(wanted));
  const level = lower.at(-1) ?? least;
  if (level !== wanted) warn("thinking.clamped", `Thinking "${wanted}" became "${level}" for ${model.id}.`);
  return model.thinking.length === 0 ? undefined : level;
}

/** The limit on output tokens. Thinking counts as output: by default the answer keeps its usual room beside it. */
export function outputTokens({ model, options }: ModelRequest, level: ThinkingLevel = "off"): number {
  const wanted = options.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS + THINKING_TOKENS[level];
  return Math.max(1, Math.min(wanted, model.maxOutputTokens));
}

type Sampling = "temperature" | "top_p" | "seed";

/** How the next token is to be chosen, in the vendors' words; what is not `taken` is left out with a warning. */
export function samplingFor(
  { model, warn, options: { temperature, topP: top_p, seed } }: ModelRequest,
  taken: readonly Sampling[],
): { readonly [Name in Sampling]?: number } {
  const wanted = stated({ temperature, top_p, seed });
  for (const name of ["temperature", "top_p", "seed"] as const) {
    if (wanted[name] === undefined || taken.includes(name)) continue;
    warn(`${name}.dropped`, `${model.id} takes no ${name} in this request; it was left out.`);
    delete wanted[name];
  }
  return wanted;
}

/** The first `most` stop sequences that are asked for, with a warning where there are more. */
export function stopSequences({ model, options, warn }: ModelRequest, most: number): string[] | undefined {
  const { stopSequences: all = [] } = options;
  if (all.length > most) {
    const takes = most === 0 ? "none" : String(most);
    warn("stop.dropped", `${all.length - most} stop sequence(s) were left out: ${model.id} takes ${takes}.`);
  }
  return unlessEmpty(all.slice(0, most));
}

/** Anthropic's mark on what is to be cached, which other servers know too. */
export interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: "1h";
}

export function cacheControl({ cache }: StreamOptions): CacheControl | undefined {
  if (cache === "none") return undefined;
  return { type: "ephemeral", ...(cache === "long" && { ttl: "1h" }) };
}

/** The system prompt as one text; `undefined` where there is none. */
export function systemText({ stable, volatile }: SystemPrompt): string | undefined {
  return [stable, volatile].filter(Boolean).join("\n\n") || undefined;
}

/** A tool as those that follow OpenAI declare one. */
export function functionOf({ name, description, inputSchema }: ToolSpec): {
  name: string;
  description: string;
  parameters: JsonObject;
} {
  return { name, description, parameters: { ...inputSchema } };
}
