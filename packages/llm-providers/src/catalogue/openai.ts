import type { JsonObject, ThinkingLevel } from "@signalbox/agent-core";
import { type Entry, type PriceList, prices } from "./entry.ts";

// Windows and limits: developers.openai.com/api/docs/models/<model>.
const LIST: PriceList = { checked: "2026-11-21", source: "https://developers.openai.com/api/docs/pricing" };

type Price = readonly [input: number, cacheRead: number, output: number, cacheWrite?: number];

const WITH_OFF: readonly ThinkingLevel[] = ["off", "low", "medium", "high", "max"];
const WITHOUT_OFF: readonly ThinkingLevel[] = ["low", "medium", "high", "max"];
const MINIMAL: readonly ThinkingLevel[] = ["minimal", "low", "medium", "high"];
const NO_OFF: JsonObject = { thinkingAlwaysOn: true };
/** These spell the highest effort `max`; older ones `xhigh`. */
const MAX: JsonObject = { efforts: { max: "max" } };
const LONG_ABOVE = 272_000;

/** Above 272,000 input tokens input and cache cost twice as much, output half as much again. */
function longPrices([input, cacheRead, output, cacheWrite]: Price): JsonObject {
  const micro = (dollars: number): number => Math.round(dollars * 1_000_000);
  return {
    longPrices: {
      above: LONG_ABOVE,
      input: micro(input * 2),
      output: micro(output * 1.5),
      cacheRead: micro(cacheRead * 2),
      ...(cacheWrite === undefined ? {} : { cacheWrite: micro(cacheWrite * 2) }),
    },
  };
}

function gpt(
  id: string,
  name: string,
  contextWindow: number,
  price: Price,
  thinking: readonly ThinkingLevel[],
  quirks: JsonObject = {},
): Entry {
  const [input, cacheRead, output, cacheWrite] = price;
  const long = contextWindow > LONG_ABOVE * 2 ? longPrices(price) : {};
  return {
    provider: "openai",
    api: "openai-responses",
    id,
    name,
    contextWindow,
    maxOutputTokens: 128_000,
    input: ["text", "image", "file"],
    thinking,
    tools: "native",
    prices: prices(LIST, input, output, cacheRead, cacheWrite),
    quirks: { ...long, ...quirks },
  };
}

export const openaiModels: readonly Entry[] = [
  gpt("gpt-6.2-astra", "GPT-6.2 Astra", 1_050_000, [8, 0.4, 40, 10], WITHOUT_OFF, { ...NO_OFF, ...MAX }),
  gpt("gpt-6.2-sol", "GPT-6.2 Sol", 1_050_000, [2, 0.1, 10, 2.5], WITHOUT_OFF, { ...NO_OFF, ...MAX }),
  gpt("gpt-6.1-sol", "GPT-6.1 Sol", 1_050_000, [2, 0.1, 10, 2.5], WITHOUT_OFF, { ...NO_OFF, ...MAX }),
  gpt("gpt-6-astra", "GPT-6 Astra", 1_050_000, [10, 1, 50, 12.5], WITHOUT_OFF, { ...NO_OFF, ...MAX }),
  gpt("gpt-6-sol", "GPT-6 Sol", 1_050_000, [2, 0.2, 10, 2.5], WITH_OFF, MAX),
  gpt("gpt-6-luna", "GPT-6 Luna", 1_050_000, [0.1, 0.01, 0.5, 0.125], WITH_OFF, MAX),
  gpt("gpt-5.6-sol", "GPT-5.6 Sol", 1_050_000, [4, 0.4, 20], WITH_OFF, MAX),
  gpt("gpt-5.6-terra", "GPT-5.6 Terra", 1_050_000, [2, 0.2, 12], WITH_OFF, MAX),
  gpt("gpt-5.6-luna", "GPT-5.6 Luna", 1_050_000, [0.2, 0.02, 1.2], WITH_OFF, MAX),
  gpt("gpt-5.5", "GPT-5.5", 1_050_000, [5, 0.5, 30], WITH_OFF),
  gpt("gpt-5.4", "GPT-5.4", 1_050_000, [2.5, 0.25, 15], WITH_OFF),
  gpt("gpt-5.4-mini", "GPT-5.4 mini", 400_000, [0.75, 0.075, 4.5], WITH_OFF),
  gpt("gpt-5.2", "GPT-5.2", 400_000, [1.75, 0.175, 14], WITH_OFF),
  gpt("gpt-5.1", "GPT-5.1", 400_000, [1.25, 0.125, 10], ["off", "low", "medium", "high"]),
  gpt("gpt-5", "GPT-5", 400_000, [1.25, 0.125, 10], MINIMAL, NO_OFF),
  gpt("gpt-5-mini", "GPT-5 mini", 400_000, [0.25, 0.025, 2], MINIMAL, NO_OFF),
  gpt("gpt-5-nano", "GPT-5 nano", 400_000, [0.05, 0.005, 0.4], MINIMAL, NO_OFF),
];
