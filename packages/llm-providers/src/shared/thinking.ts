import type { Model, StreamOptions, ThinkingLevel } from "@signalbox/agent-core";
import { clampThinking } from "../stream/thinking.ts";

/** Called with what the caller should know about the request. */
export type Warn = (code: string, message: string) => void;

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
 * The limit on output tokens to send. Vendors count thinking as output: without the caller's own limit the answer
 * keeps its usual room beside it.
 */
export function outputTokens(model: Model, options: StreamOptions, level: ThinkingLevel | undefined): number {
  const wanted = options.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS + THINKING_TOKENS[level ?? "off"];
  return Math.max(1, Math.min(wanted, model.maxOutputTokens));
}
