import { randomUUID } from "node:crypto";
import { type Budget, createMeter, type Meter } from "@signalbox/budgets";
import type { Config } from "@signalbox/config";
import { pricesFor } from "@signalbox/llm-providers";
import { getBudgets } from "../configure/budgets.ts";
import { reportNotice, type SpendingReports } from "./spending-reports.ts";

/**
 * Creates a meter for calls outside conversations, such as embeddings and transcriptions. They count toward the same
 * budgets.
 */
export function createPaidCalls(config: () => Config, reports: SpendingReports): Pick<Meter, "pay"> {
  return createMeter({
    budgets: (): readonly Budget[] => getBudgets(config()),
    ledger: reports.ledger,
    getPrices: pricesFor,
    cheaper: () => undefined,
    onNotice: reportNotice(reports),
    onProblem: (error) =>
      reports.logger.warn({ err: String(error) }, "the cost of a call could not be recorded"),
    now: reports.now,
    newId: randomUUID,
  });
}

/** Returns prices in micro-dollars per token, or zero if the configuration has none. */
export function getEntryPrices(
  { models }: Config,
  reference: string,
): { readonly input: number; readonly output: number } {
  const [provider = "", ...model] = reference.split("/");
  const entry = models.providers[provider]?.models.find(({ id }) => id === model.join("/"));
  return entry?.prices ?? { input: 0, output: 0 };
}
