import { estimateTokens } from "@signalbox/agent-core";
import type { Amount } from "@signalbox/budgets";
import type { Config } from "@signalbox/config";
import type { PayForVectors } from "@signalbox/memory/agents";
import { createPaidCalls, getEntryPrices } from "./paid-calls.ts";
import type { SpendingReports } from "./spending-reports.ts";

/** Safety factor for reservations, because vendors' token counts differ from our estimate. */
const MARGIN = 1.3;

/**
 * Charges the embeddings of an agent's memory to the budgets that apply, with `system` as the sender. If a budget is
 * exhausted, memory falls back to keyword search.
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
