import { type BudgetNews, describeBudget, type Ledger } from "@signalbox/budgets";

/** Where what is spent is kept, and told. */
export interface SpendingReports {
  readonly ledger: Ledger;
  /** Told of what people may want to hear of, with the budget in words. */
  readonly onNews: (budget: string, kind: BudgetNews["kind"]) => void;
  readonly logger: { warn(fields: object, message: string): void };
  readonly now: () => number;
}

/** Reports the state of a budget to metrics and log. */
export function tellNews({ onNews, logger }: SpendingReports): (news: BudgetNews) => void {
  return (news) => {
    onNews(describeBudget(news.budget), news.kind);
    logger.warn({ account: news.account, period: news.period, agent: news.spender.agent }, textOf(news));
  };
}

function textOf({ kind, budget }: BudgetNews): string {
  const name = describeBudget(budget);
  switch (kind) {
    case "low":
      return `${Math.round(budget.warnAt * 100)}% of a budget is used: ${name}`;
    case "used-up":
      return `a budget is used up: ${name}`;
    case "cheaper":
      return `a cheaper model answers because a budget is used up: ${name}`;
    case "refused":
      return `a model call was not made because a budget is used up: ${name}`;
  }
}
