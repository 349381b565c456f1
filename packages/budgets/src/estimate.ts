import {
  estimateRequest,
  estimateTokens,
  type Model,
  type ModelContext,
  type ModelPrices,
  type StreamOptions,
  type Usage,
} from "@signalbox/agent-core";
import type { Amount } from "./budget.ts";

/** The prices of a model for a request of so many tokens; undefined where they are not known. */
export type PricesOf = (model: Model, inputTokens: number) => ModelPrices | undefined;

/** Vendors count other tokens than we guess; a reservation has to cover what they may find. */
const MARGIN = 1.3;
/** What an answer may have where nothing is said; those who think may write much more before it. */
const ANSWER_TOKENS = 8_192;
const THINKING_ANSWER_TOKENS = 57_344;

/** The most that a call may cost, whichever of these models answers. */
export function mostOf(
  models: readonly Model[],
  context: ModelContext,
  options: StreamOptions,
  pricesOf: PricesOf,
): Amount {
  const input = Math.ceil(estimateRequest(context) * MARGIN);
  const amounts = models.map((model): Amount => {
    const output = longestAnswer(model, options);
    return { micros: priceOf(model, { input, output }, pricesOf), tokens: input + output };
  });
  return {
    micros: Math.max(0, ...amounts.map(({ micros }) => micros)),
    tokens: Math.max(0, ...amounts.map(({ tokens }) => tokens)),
  };
}

/** Of a small window an answer may have this share. */
const ANSWER_SHARE = 0.25;

/** Whether a request fits into the window of a model, with room for an answer. */
export function fits(model: Model, context: ModelContext, options: StreamOptions): boolean {
  const { contextWindow } = model;
  const answer = Math.min(longestAnswer(model, options), contextWindow * ANSWER_SHARE);
  return estimateRequest(context) * MARGIN + answer <= contextWindow;
}

/** What a call is said to have come to; undefined where nobody said. */
export function reportedAmount(usage: Usage | undefined): Amount | undefined {
  if (usage === undefined) return undefined;
  const { input, output, costMicros = 0 } = usage;
  if (input.total === undefined && output.total === undefined) return undefined;
  return { micros: costMicros, tokens: (input.total ?? 0) + (output.total ?? 0) };
}

/** What a call came to, about, by what was sent and what was written so far. */
export function guessedAmount(
  model: Model,
  context: ModelContext,
  written: string,
  pricesOf: PricesOf,
): Amount {
  const [input, output] = [estimateRequest(context), estimateTokens(written)];
  return { micros: priceOf(model, { input, output }, pricesOf), tokens: input + output };
}

function longestAnswer(model: Model, { maxOutputTokens, thinking = "off" }: StreamOptions): number {
  const usual = thinking === "off" ? ANSWER_TOKENS : THINKING_ANSWER_TOKENS;
  return Math.min(maxOutputTokens ?? usual, model.maxOutputTokens);
}

/** All of the input may have to be written to a cache, which some vendors charge more for. */
function priceOf(
  model: Model,
  { input, output }: { readonly input: number; readonly output: number },
  pricesOf: PricesOf,
): number {
  const prices = pricesOf(model, input);
  if (prices === undefined) return 0;
  const dearest = Math.max(prices.input, prices.cacheWrite ?? 0);
  return Math.ceil((input * dearest + output * prices.output) / 1_000_000);
}
