import type { Model, StreamOptions, ThinkingLevel } from "@signalbox/agent-core";
import type { Warn } from "./warnings.ts";

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
 * The level a model will think at when asked for `wanted`: the same where it knows it, else the nearest lower one, and
 * `off` where there is none. A model whose quirks say `thinkingAlwaysOn` never goes below its lowest level.
 */
function clampThinking(model: Model, wanted: ThinkingLevel = "off"): ThinkingLevel {
  const levels = model.thinking.filter((level) => level !== "off");
  const lowest = levels[0];
  if (lowest === undefined) return "off";
  let best: ThinkingLevel = "off";
  for (const level of levels) if (LEVELS.indexOf(level) <= LEVELS.indexOf(wanted)) best = level;
  return best === "off" && model.quirks?.thinkingAlwaysOn === true ? lowest : best;
}

/**
 * The level `model` is asked for, clamped to what it knows; `undefined` where it cannot think at all, so that nothing
 * is to be said about it.
 */
export function thinkingLevel(model: Model, options: StreamOptions, warn: Warn): ThinkingLevel | undefined {
  const wanted = options.thinking ?? "off";
  const level = model.thinking.length === 0 ? undefined : clampThinking(model, wanted);
  if ((level ?? "off") !== wanted) {
    warn("thinking.clamped", `Thinking "${wanted}" became "${level ?? "off"}" for ${model.id}.`);
  }
  return level;
}

/**
 * The limit on output tokens to send. Vendors count thinking as output: without the caller's own limit the answer
 * keeps its usual room beside it.
 */
export function outputTokens(model: Model, options: StreamOptions, level: ThinkingLevel | undefined): number {
  const wanted = options.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS + THINKING_TOKENS[level ?? "off"];
  return Math.max(1, Math.min(wanted, model.maxOutputTokens));
}
