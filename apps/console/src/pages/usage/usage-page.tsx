import type { Usage } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { usageQuery } from "../../queries.ts";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { Budgets } from "./budgets.tsx";
import { UsageTable } from "./usage-table.tsx";
import { BYS, SPANS } from "./wanted.ts";

const route = getRouteApi("/usage");

/** Tokens and cost by day, agent, session or sender, and balances of budgets. */
export function UsagePage(): ReactNode {
  const words = useWords();
  const wanted = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(usageQuery(useClient(), wanted));
  return (
    <Page title={words.pages.usage}>
      <div className="line">
        <label>
          {words.usage.by}
          <select
            value={wanted.by}
            onChange={({ target }) => {
              const by = BYS.find((each) => each === target.value) ?? "day";
              void navigate({ search: { ...wanted, by } });
            }}
          >
            {BYS.map((by) => (
              <option key={by} value={by}>
                {words.usage.bys[by]}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.usage.span}
          <select
            value={wanted.days ?? ""}
            onChange={({ target }) => {
              const { days: _, ...rest } = wanted;
              const days = SPANS.find((each) => String(each) === target.value);
              void navigate({ search: days === undefined ? { ...rest } : { ...rest, days } });
            }}
          >
            {SPANS.map((days) => (
              <option key={days} value={days}>
                {words.usage.days(days)}
              </option>
            ))}
            <option value="">{words.usage.allTime}</option>
          </select>
        </label>
      </div>
      <Loaded query={query}>
        {(usage) => (
          <>
            <Totals usage={usage} />
            {usage.groups.length > 0 && <UsageTable by={wanted.by} groups={usage.groups} />}
            {usage.budgets.length > 0 && <Budgets budgets={usage.budgets} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Totals({ usage: { groups } }: { usage: Usage }): ReactNode {
  const { usage: words } = useWords();
  const format = useFormat();
  if (groups.length === 0) return <p className="help">{words.none}</p>;
  const sum = (of: (group: Usage["groups"][number]) => number) =>
    groups.reduce((total, group) => total + of(group), 0);
  return (
    <p className="sentence" role="status">
      {words.totals(
        format.number(sum(({ runs }) => runs)),
        format.number(sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens)),
        format.cost(sum(({ costMicros }) => costMicros)),
      )}
    </p>
  );
}
