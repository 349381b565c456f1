import type { JsonObject, ThinkingLevel } from "@signalbox/agent-core";
import { demoModel } from "../demo/provider.ts";
import { type Entry, type PriceList, prices } from "./entry.ts";

const GOOGLE: PriceList = {
  checked: "2026-11-21",
  source: "https://ai.google.dev/gemini-api/docs/pricing",
};
const MISTRAL: PriceList = { checked: "2026-11-21", source: "https://mistral.ai/pricing" };

const LEVELS: readonly ThinkingLevel[] = ["minimal", "low", "medium", "high"];
const BUDGET: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

// Above 200,000 input tokens the Pro models cost more.
function gemini(
  id: string,
  name: string,
  price: readonly [input: number, cacheRead: number, output: number],
  thinking: readonly ThinkingLevel[],
  quirks: JsonObject = {},
): Entry {
  const [input, cacheRead, output] = price;
  return {
    provider: "google",
    api: "google-generative",
    id,
    name,
    contextWindow: 1_048_576,
    maxOutputTokens: 65_536,
    input: ["text", "image", "audio", "file"],
    thinking,
    tools: "native",
    prices: prices(GOOGLE, input, output, cacheRead),
    quirks,
  };
}

export const googleModels: readonly Entry[] = [
  gemini("gemini-3.8-flash", "Gemini 3.8 Flash", [0.75, 0.075, 3.75], LEVELS, { thinkingAlwaysOn: true }),
  gemini("gemini-3.5-flash", "Gemini 3.5 Flash", [1.5, 0.15, 9], LEVELS, { thinkingAlwaysOn: true }),
  gemini("gemini-3.1-pro-preview", "Gemini 3.1 Pro", [2, 0.2, 12], ["low", "medium", "high"], {
    thinkingAlwaysOn: true,
    longPrices: { above: 200_000, input: 4_000_000, output: 18_000_000, cacheRead: 400_000 },
  }),
  gemini("gemini-3.1-flash-lite", "Gemini 3.1 Flash-Lite", [0.25, 0.025, 1.5], LEVELS, {
    thinkingAlwaysOn: true,
  }),
  gemini("gemini-2.5-pro", "Gemini 2.5 Pro", [1.25, 0.125, 10], BUDGET.slice(1), {
    thinkingAlwaysOn: true,
    longPrices: { above: 200_000, input: 2_500_000, output: 15_000_000, cacheRead: 250_000 },
  }),
  gemini("gemini-2.5-flash", "Gemini 2.5 Flash", [0.3, 0.03, 2.5], BUDGET),
  gemini("gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite", [0.1, 0.01, 0.4], BUDGET),
];

// Windows: docs.mistral.ai/models. Thinking: docs.mistral.ai/capabilities/reasoning/adjustable.
function mistral(
  id: string,
  name: string,
  contextWindow: number,
  input: readonly ("text" | "image")[],
  thinking: readonly ThinkingLevel[],
  price?: readonly [input: number, output: number],
): Entry {
  return {
    provider: "mistral",
    api: "mistral-chat",
    id,
    name,
    contextWindow,
    maxOutputTokens: 32_768,
    input,
    thinking,
    tools: "native",
    ...(price === undefined ? {} : { prices: prices(MISTRAL, price[0], price[1]) }),
  };
}

const SEES = ["text", "image"] as const;
/** The vendor's words are `none` and `high`. */
const ON_OFF: readonly ThinkingLevel[] = ["off", "high"];

export const mistralModels: readonly Entry[] = [
  mistral("mistral-medium-latest", "Mistral Medium 3.5", 256_000, SEES, ON_OFF, [1.5, 7.5]),
  mistral("mistral-medium-3-5", "Mistral Medium 3.5", 256_000, SEES, ON_OFF, [1.5, 7.5]),
  mistral("mistral-medium-3.5", "Mistral Medium 3.5", 256_000, SEES, ON_OFF, [1.5, 7.5]),
  mistral("mistral-large-2512", "Mistral Large 3", 262_144, SEES, [], [0.5, 1.5]),
  // Which version this names, and so its price, changes: the configuration states it where cost matters.
  mistral("mistral-large-latest", "Mistral Large", 262_144, SEES, []),
  mistral("mistral-small-latest", "Mistral Small", 131_072, SEES, ON_OFF),
];

export const demoModels: readonly Entry[] = [{ ...demoModel, name: "Offline demo" }];
