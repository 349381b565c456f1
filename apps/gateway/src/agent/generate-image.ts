import type { Amount } from "@signalbox/budgets";
import type { ImageRequest } from "@signalbox/tools";
import { createImageGenerator, type GeneratedImage } from "../configure/image-generation.ts";
import type { CoreContext } from "../core-context.ts";
import { createPaidCalls, getEntryPrices } from "./paid-calls.ts";
import { createSpenders } from "./spending.ts";
import type { SpendingReports } from "./spending-reports.ts";
import type { ToolRun } from "./tool-run.ts";

/** Tokens that an image is estimated to take before the provider has reported them. */
const ESTIMATED_TOKENS = 4_200;
const MICROS_PER_DOLLAR = 1_000_000;

/** Generates an image for a run. The sender of the answered message pays for it. */
export type GenerateForRun = (
  request: ImageRequest,
  run: ToolRun,
  signal: AbortSignal,
) => Promise<Uint8Array>;

/**
 * Creates the function behind `generate_image`. A configured price per image counts if there is one, otherwise the
 * tokens that the provider reports, at the prices of its entry. If a budget is exhausted, nothing is requested.
 */
export function createGenerateImage(core: CoreContext, reports: SpendingReports): GenerateForRun {
  const { config, env, web } = core;
  const settings = () => config.current().settings;
  const calls = createPaidCalls(settings, reports);
  const spenderOf = createSpenders(config);
  const getAmount = ({ input, output }: NonNullable<GeneratedImage["tokens"]>): Amount => {
    const { model = "", price } = settings().tools.imageGeneration ?? {};
    const prices = getEntryPrices(settings(), model);
    const byTokens = input * prices.input + output * prices.output;
    const micros = price === undefined ? byTokens : price * MICROS_PER_DOLLAR;
    return { tokens: input + output, micros: Math.ceil(micros) };
  };
  return async (request, { agent, event, role }, signal) => {
    const generate = createImageGenerator(settings(), env, { download: web.fetch });
    if (generate === undefined) throw new Error("no service for images is configured.");
    const estimate = getAmount({ input: Math.ceil(request.prompt.length / 2), output: ESTIMATED_TOKENS });
    return calls.pay(spenderOf({ agentId: agent.id, event, role }), estimate, async () => {
      const { bytes, tokens } = await generate(request, signal);
      return { value: bytes, amount: tokens === undefined ? estimate : getAmount(tokens) };
    });
  };
}
