import { estimateTokens } from "@signalbox/agent-core";
import type { Amount } from "@signalbox/budgets";
import type { Config } from "@signalbox/config";
import type { PayForVectors } from "@signalbox/memory/agents";
import { createPaidCalls, getEntryPrices } from "./paid-calls.ts";
import type { SpendingReports } from "./spending-reports.ts";

/** Vendors count other tokens than we guess; what is reserved has to cover what they may find. */
const MARGIN = 1.3;

/**
 * Pays for the vectors of an agent's memory from the budgets they count for, as `system`. If one is used up, memory
 * searches by words.
 */
export function createVectorCosts(
  config: () => Config,
  reports: SpendingReports,
): (agentId: string, embeddings: string) => PayForVectors {
  const calls = createPaidCalls(config, reports);
  return (agent, embeddings) => (texts, ask) => {
    const amountOf = (tokens: number): Amount => {
      return { tokens, micros: Math.ceil(tokens * getEntryPrices(config(), embeddings).input) };
    };
    const guess = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    return calls.pay({ agent, role: "system" }, amountOf(Math.ceil(guess * MARGIN)), async () => {
      const value = await ask();
      return { value, amount: amountOf(value.tokens ?? guess) };
    });
  };
}
