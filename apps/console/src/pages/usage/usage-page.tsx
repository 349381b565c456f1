import "../../styles/mantine-forms.css";
import { NativeSelect, SegmentedControl, Skeleton } from "@mantine/core";
import type { Usage, UsageGroup } from "@signalbox/client";
import { IconChartBar } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { useClient } from "../../gateway.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Figures } from "../../parts/figures.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { Budgets } from "./budgets.tsx";
import { type DayUsage, toCourse } from "./course.ts";
import { usageQuery, usageSeriesQuery } from "./queries.ts";
import { BYS, MEASURES, SPANS } from "./search.ts";
import { UsageTable } from "./usage-table.tsx";
import { useUsageWords } from "./words.ts";

/** Loaded when there is something to draw, because the chart library is large. */
const UsageChart = lazy(async () => ({ default: (await import("./chart.tsx")).UsageChart }));

/** Height of the chart in pixels. */
const CHART_HEIGHT = 260;

const route = getRouteApi("/usage");

/** Tokens and cost by day, model, agent, channel, person or session, over time, and balances of budgets. */
export function UsagePage(): ReactNode {
  const { pages } = useWords();
  const words = useUsageWords();
  const { by, days } = route.useSearch();
  const query = useQuery(usageQuery(useClient(), days === "all" ? { by } : { by, days }));
  return (
    <Page title={pages.usage} description={words.description} actions={<Controls />}>
      <Loaded query={query}>
        {(usage) => (
          <>
            <Totals usage={usage} />
            {usage.groups.length > 0 && <CourseOfUsage days={usage.groups} />}
            {usage.groups.length > 0 && <UsageTable by={by} groups={usage.groups} />}
            {usage.budgets.length > 0 && <Budgets budgets={usage.budgets} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The chart: usage over time, split by group unless the usage is grouped by day. */
function CourseOfUsage({ days: ofDays }: { days: readonly UsageGroup[] }): ReactNode {
  const words = useUsageWords();
  const { by, days, measure } = route.useSearch();
  const query = { by: by === "day" ? ("agent" as const) : by, ...(days !== "all" && { days }) };
  const { data } = useQuery({ ...usageSeriesQuery(useClient(), query), enabled: by !== "day" });
  const unnamed = by === "model" ? words.noModel : words.nobody;
  const points: DayUsage[] =
    by === "day"
      ? ofDays.map(({ name: day, ...usage }) => ({ day, name: words.total, usage }))
      : (data?.points ?? []).map(({ day, name, title, ...usage }) => ({
          day,
          name: name === "" ? unnamed : (title ?? name),
          usage,
        }));
  return (
    <Section title={words.chart} actions={<MeasureControl />}>
      <Suspense fallback={<Skeleton height={CHART_HEIGHT} />}>
        <UsageChart measure={measure} course={toCourse(points, measure, days, Date.now())} />
      </Suspense>
    </Section>
  );
}

/** Chooses the figure of the chart. */
function MeasureControl(): ReactNode {
  const words = useUsageWords();
  const { measure } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <SegmentedControl
      size="xs"
      aria-label={words.measure}
      value={measure}
      data={MEASURES.map((each) => ({ value: each, label: words.measures[each] }))}
      onChange={(value) => {
        const next = MEASURES.find((each) => each === value) ?? "cost";
        void navigate({ search: (search) => ({ ...search, measure: next }) });
      }}
    />
  );
}

function Controls(): ReactNode {
  const words = useUsageWords();
  const wanted = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <NativeSelect
        label={words.by}
        value={wanted.by}
        data={BYS.map((by) => ({ value: by, label: words.bys[by] }))}
        onChange={({ currentTarget }) => {
          const by = BYS.find((each) => each === currentTarget.value) ?? "day";
          void navigate({ search: { ...wanted, by } });
        }}
      />
      <NativeSelect
        label={words.span}
        value={String(wanted.days)}
        data={[
          ...SPANS.map((days) => ({ value: String(days), label: words.days(days) })),
          { value: "all", label: words.allTime },
        ]}
        onChange={({ currentTarget }) => {
          const days = SPANS.find((each) => String(each) === currentTarget.value) ?? "all";
          void navigate({ search: { ...wanted, days } });
        }}
      />
    </>
  );
}

function Totals({ usage: { groups } }: { usage: Usage }): ReactNode {
  const words = useUsageWords();
  const format = useFormat();
  if (groups.length === 0)
    return (
      <Empty icon={IconChartBar} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  const sum = (of: (group: Usage["groups"][number]) => number) =>
    groups.reduce((total, group) => total + of(group), 0);
  const cost = sum(({ costMicros }) => costMicros);
  const runs = sum((group) => group.runs);
  const input = sum(({ inputTokens }) => inputTokens);
  const cached = sum(({ cacheReadTokens }) => cacheReadTokens);
  return (
    <Figures
      label={words.table}
      figures={[
        {
          name: words.cost,
          value: format.cost(cost),
          note: words.perRun(format.cost(cost / Math.max(runs, 1))),
        },
        { name: words.runs, value: format.number(runs) },
        {
          name: words.input,
          value: format.compact(input),
          note: words.cached(format.percent(input === 0 ? 0 : cached / input)),
        },
        { name: words.output, value: format.compact(sum(({ outputTokens }) => outputTokens)) },
      ]}
    />
  );
}
