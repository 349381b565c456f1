import { type BudgetNotice, describeBudget, type Ledger } from "@signalbox/budgets";

/** Destinations of spending records and notices. */
export interface SpendingReports {
  readonly ledger: Ledger;
  /** Called with a budget's description when its limit is near or reached. */
  readonly onNotice: (budget: string, kind: BudgetNotice["kind"]) => void;
  readonly logger: { warn(fields: object, message: string): void };
  readonly now: () => number;
}

/** Reports the state of a budget to metrics and the log. */
export function reportNotice({ onNotice, logger }: SpendingReports): (news: BudgetNotice) => void {
  return (news) => {
    onNotice(describeBudget(news.budget), news.kind);
    logger.warn(
      { account: news.account, period: news.period, agent: news.spender.agent },
      describeNotice(news),
    );
  };
}

function describeNotice({ kind, budget }: BudgetNotice): string {
  const name = describeBudget(budget);
  switch (kind) {
    case "low":
      return `${Math.round(budget.warnAt * 100)}% of a budget is used: ${name}`;
    case "used_up":
      return `a budget is used up: ${name}`;
    case "cheaper":
      return `a cheaper model answers because a budget is used up: ${name}`;
    case "refused":
      return `a model call was not made because a budget is used up: ${name}`;
  }
}
