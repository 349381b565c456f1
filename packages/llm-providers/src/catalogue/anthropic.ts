import type { JsonObject, ThinkingLevel } from "@signalbox/agent-core";
import { type Entry, type PriceList, prices } from "./entry.ts";

// Windows, limits and prices: <source>/<model>/overview. What each model does with `thinking`: the migration guides
// beside them.
const LIST: PriceList = { checked: "2026-11-21", source: "https://platform.claude.com/docs/en/models" };

const EFFORT: readonly ThinkingLevel[] = ["off", "low", "medium", "high", "max"];
const ALWAYS: readonly ThinkingLevel[] = ["low", "medium", "high", "max"];
const BUDGET: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

/** Thinks with a budget of tokens (`thinking.type: "enabled"`). */
const budget: JsonObject = { thinking: "budget" };
/** Thinks as it sees fit, up to an effort; takes no assistant turn at the end. */
const adaptive: JsonObject = { thinking: "adaptive", prefill: false };
/** The same, hiding its thinking unless asked for a summary, and taking no temperature. */
const adaptive47: JsonObject = { ...adaptive, thinkingDisplay: true, temperature: false };
/** Thinks unless told not to. */
const adaptive5: JsonObject = { ...adaptive47, thinkingOff: "disabled" };
/** Cannot be kept from thinking, nor forced to call a tool. */
const always: JsonObject = { ...adaptive47, thinkingAlwaysOn: true, forcedTools: false };

function claude(
  id: string,
  name: string,
  size: "200k" | "1m",
  price: readonly [input: number, output: number, cacheRead?: number],
  thinking: readonly ThinkingLevel[],
  quirks: JsonObject,
): Entry {
  const [input, output, cacheRead = input / 10] = price;
  return {
    provider: "anthropic",
    api: "anthropic-messages",
    id,
    name,
    contextWindow: size === "1m" ? 1_000_000 : 200_000,
    maxOutputTokens: size === "1m" ? 128_000 : 64_000,
    input: ["text", "image", "file"],
    thinking,
    tools: "native",
    prices: prices(LIST, input, output, cacheRead, input * 1.25),
    quirks,
  };
}

export const anthropicModels: readonly Entry[] = [
  claude("claude-fable-5-2", "Claude Fable 5.2", "1m", [8, 40], ALWAYS, always),
  claude("claude-fable-5-1", "Claude Fable 5.1", "1m", [10, 50], ALWAYS, always),
  claude("claude-opus-5-5", "Claude Opus 5.5", "1m", [4, 20, 0.2], ALWAYS, always),
  claude("claude-sonnet-5-5", "Claude Sonnet 5.5", "1m", [2, 10], EFFORT, {
    ...adaptive47,
    thinkingOff: "between_tools",
    forcedTools: false,
  }),
  claude("claude-haiku-5-5", "Claude Haiku 5.5", "1m", [0.1, 0.5], EFFORT, {
    ...adaptive5,
    longPrices: {
      above: 100_000,
      input: 500_000,
      output: 2_500_000,
      cacheRead: 50_000,
      cacheWrite: 625_000,
    },
  }),
  claude("claude-opus-5", "Claude Opus 5", "1m", [5, 25], EFFORT, adaptive5),
  claude("claude-sonnet-5", "Claude Sonnet 5", "1m", [2, 10], EFFORT, adaptive5),
  claude("claude-opus-4-8", "Claude Opus 4.8", "1m", [5, 25], EFFORT, adaptive47),
  claude("claude-opus-4-7", "Claude Opus 4.7", "1m", [5, 25], EFFORT, adaptive47),
  claude("claude-opus-4-6", "Claude Opus 4.6", "1m", [5, 25], EFFORT, adaptive),
  claude("claude-sonnet-4-6", "Claude Sonnet 4.6", "1m", [3, 15], EFFORT, adaptive),
  claude("claude-opus-4-5", "Claude Opus 4.5", "200k", [5, 25], BUDGET, budget),
  claude("claude-sonnet-4-5", "Claude Sonnet 4.5", "200k", [3, 15], BUDGET, budget),
  claude("claude-haiku-4-5", "Claude Haiku 4.5", "200k", [1, 5], BUDGET, budget),
];
