import type { BudgetBalance } from "@signalbox/client";
import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { Bar } from "./bar.tsx";

/** Balances of budgets in the current period. */
export function Budgets({ budgets }: { budgets: readonly BudgetBalance[] }): ReactNode {
  const { usage: words } = useWords();
  return (
    <>
      <h3>{words.budgets}</h3>
      <ul className="rows">
        {budgets.map((budget) => (
          <li key={`${budget.budget} ${budget.account}`}>
            <BudgetRow budget={budget} />
          </li>
        ))}
      </ul>
    </>
  );
}

function BudgetRow({ budget }: { budget: BudgetBalance }): ReactNode {
  const { usage: words } = useWords();
  const format = useFormat();
  const { account, unit, spent, reserved, allowed, left, limit, until } = budget;
  const amount = (value: number) =>
    unit === "micros" ? format.cost(value) : words.tokens(format.number(value));
  return (
    <>
      <span className="row-head">
        <strong>{account}</strong>
        <span className={left === 0 ? "badge down" : "badge"}>
          {words.left(amount(left), amount(allowed))}
        </span>
      </span>
      <Bar share={allowed === 0 ? 1 : Math.min(1, (spent + reserved) / allowed)} />
      <span className="about">
        {words.budget(budget, amount(limit))} · {words.anew(format.time(until))}
      </span>
    </>
  );
}
