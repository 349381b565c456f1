import {
  estimateRequest,
  estimateTokens,
  type Model,
  type ModelContext,
  type ModelPrices,
  type StreamOptions,
  type Usage,
} from "@signalbox/agent-core";
import type { Amount } from "@signalbox/store/types";

/** Returns a model's prices for a request with the given number of input tokens, or `undefined` if they are unknown. */
export type GetPrices = (model: Model, inputTokens: number) => ModelPrices | undefined;

/** Vendors count more tokens than we estimate. A reservation has to cover their count. */
const MARGIN = 1.3;
/** Output tokens to reserve if the caller sets no limit; a thinking model may write many before its answer. */
const ANSWER_TOKENS = 8_192;
const THINKING_ANSWER_TOKENS = 57_344;
/** The largest share of a context window that is kept free for the answer. */
const ANSWER_SHARE = 0.25;

/** Returns the maximum cost of a call, whichever of the models answers. */
export function estimateMaximum(
  models: readonly Model[],
  context: ModelContext,
  options: StreamOptions,
  getPrices: GetPrices,
): Amount {
  const input = Math.ceil(estimateRequest(context) * MARGIN);
  const amounts = models.map((model): Amount => {
    const output = getMaximumOutput(model, options);
    return { micros: getCost(model, { input, output }, getPrices), tokens: input + output };
  });
  return {
    micros: Math.max(0, ...amounts.map(({ micros }) => micros)),
    tokens: Math.max(0, ...amounts.map(({ tokens }) => tokens)),
  };
}

/** Returns whether a request fits into a model's context window and leaves room for an answer. */
export function fitsModel(model: Model, context: ModelContext, options: StreamOptions): boolean {
  const { contextWindow } = model;
  const answer = Math.min(getMaximumOutput(model, options), contextWindow * ANSWER_SHARE);
  return estimateRequest(context) * MARGIN + answer <= contextWindow;
}

/** Returns the cost that the vendor reported, if any. */
export function getReportedAmount(usage: Usage | undefined): Amount | undefined {
  if (usage === undefined) return undefined;
  const { input, output, costMicros = 0 } = usage;
  if (input.total === undefined && output.total === undefined) return undefined;
  return { micros: costMicros, tokens: (input.total ?? 0) + (output.total ?? 0) };
}

/** Estimates the cost of a call from its request and the text written so far. */
export function estimateAmount(
  model: Model,
  context: ModelContext,
  written: string,
  getPrices: GetPrices,
): Amount {
  const [input, output] = [estimateRequest(context), estimateTokens(written)];
  return { micros: getCost(model, { input, output }, getPrices), tokens: input + output };
}

function getMaximumOutput(model: Model, { maxOutputTokens, thinking = "off" }: StreamOptions): number {
  const fallback = thinking === "off" ? ANSWER_TOKENS : THINKING_ANSWER_TOKENS;
  return Math.min(maxOutputTokens ?? fallback, model.maxOutputTokens);
}

/** Assumes that the whole input is written to the prompt cache if that costs more than plain input. */
function getCost(
  model: Model,
  { input, output }: { readonly input: number; readonly output: number },
  getPrices: GetPrices,
): number {
  const prices = getPrices(model, input);
  if (prices === undefined) return 0;
  const inputPrice = Math.max(prices.input, prices.cacheWrite ?? 0);
  return Math.ceil((input * inputPrice + output * prices.output) / 1_000_000);
}
