import { randomUUID } from "node:crypto";
import { estimateTokens } from "@signalbox/agent-core";
import { type Amount, type Budget, createMeter } from "@signalbox/budgets";
import type { Config } from "@signalbox/config";
import { pricesFor } from "@signalbox/llm-providers";
import type { PayForVectors } from "@signalbox/memory/agents";
import { budgetsOf } from "../budgets.ts";
import { type SpendingReports, tellNews } from "./spending.ts";

/** Vendors count other tokens than we guess; what is reserved has to cover what they may find. */
const MARGIN = 1.3;

/**
 * Has the vectors of an agent's memory paid from the budgets that they count for, as what an agent does by itself.
 * Where one is used up, memory goes on by words.
 */
export function createVectorCosts(
  config: () => Config,
  reports: SpendingReports,
): (agentId: string, embeddings: string) => PayForVectors {
  const meter = createMeter({
    budgets: (): readonly Budget[] => budgetsOf(config()),
    ledger: reports.ledger,
    pricesOf: pricesFor,
    cheaper: () => undefined,
    onNews: tellNews(reports),
    onProblem: (error) => reports.logger.warn({ err: String(error) }, "a call for vectors was not settled"),
    now: reports.now,
    newId: randomUUID,
  });
  return (agent, embeddings) => (texts, ask) => {
    const amountOf = (tokens: number): Amount => {
      return { tokens, micros: Math.ceil(tokens * priceOf(config(), embeddings)) };
    };
    const guess = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    return meter.pay({ agent, role: "system" }, amountOf(Math.ceil(guess * MARGIN)), async () => {
      const value = await ask();
      return { value, amount: amountOf(value.tokens ?? guess) };
    });
  };
}

/** Millionths of a dollar for a token, which are dollars for a million; nothing where the configuration has none. */
function priceOf({ models }: Pick<Config, "models">, embeddings: string): number {
  const [provider = "", ...model] = embeddings.split("/");
  const entry = models.providers[provider]?.models.find(({ id }) => id === model.join("/"));
  return entry?.prices?.input ?? 0;
}
