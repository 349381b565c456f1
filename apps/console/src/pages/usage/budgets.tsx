import type { BudgetBalance } from "@signalbox/client";
import type { ReactNode } from "react";
import { Section } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useFormat } from "../../words/use-format.ts";
import { Bar } from "./bar.tsx";
import classes from "./budgets.module.css";
import { useUsageWords } from "./words.ts";

/** Balances of budgets in the current period. */
export function Budgets({ budgets }: { budgets: readonly BudgetBalance[] }): ReactNode {
  const words = useUsageWords();
  return (
    <Section title={words.budgets}>
      <ul className={classes["budgets"]}>
        {budgets.map((budget) => (
          <li key={`${budget.budget} ${budget.account}`}>
            <BudgetRow budget={budget} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function BudgetRow({ budget }: { budget: BudgetBalance }): ReactNode {
  const words = useUsageWords();
  const format = useFormat();
  const { account, unit, spent, reserved, allowed, left, limit, until } = budget;
  const amount = (value: number) =>
    unit === "micros" ? format.cost(value) : words.tokenCount(format.number(value));
  const used = allowed === 0 ? 1 : Math.min(1, (spent + reserved) / allowed);
  return (
    <>
      <div className={classes["head"]}>
        <strong>
          <bdi>{account}</bdi>
        </strong>
        <StateBadge tone={left === 0 ? "bad" : used > 0.8 ? "warn" : "neutral"}>
          {words.left(amount(left), amount(allowed))}
        </StateBadge>
      </div>
      <Bar share={used} color={left === 0 ? "red" : used > 0.8 ? "orange" : "signal"} />
      <small>
        {words.budget(budget, amount(limit))} · {words.resets(format.relative(until))}
      </small>
    </>
  );
}
