import type { UsageBy, UsageGroup } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { useFormat } from "../../words/use-format.ts";
import { Bar } from "./bar.tsx";
import { useUsageWords } from "./words.ts";

interface Props {
  by: UsageBy;
  groups: readonly UsageGroup[];
}

/** A row for each group, with its share of the cost, or of the tokens if no model has a price. */
export function UsageTable({ by, groups }: Props): ReactNode {
  const words = useUsageWords();
  const format = useFormat();
  const hasCosts = groups.some(({ costMicros }) => costMicros > 0);
  const weightOf = (group: UsageGroup) => (hasCosts ? group.costMicros : tokensOf(group));
  const most = Math.max(...groups.map(weightOf));
  // Days are sorted latest first, other groups by size.
  const inOrder = by === "day" ? groups.toReversed() : groups.toSorted((a, b) => weightOf(b) - weightOf(a));
  const columns: Column<UsageGroup>[] = [
    {
      id: "name",
      label: words.bys[by],
      isMain: true,
      cell: (group) => <GroupName by={by} group={group} />,
    },
    {
      id: "share",
      label: words.share,
      isDetail: true,
      cell: (group) => <Bar share={most === 0 ? 0 : weightOf(group) / most} />,
    },
    { id: "cost", label: words.cost, align: "end", cell: ({ costMicros }) => format.cost(costMicros) },
    { id: "runs", label: words.runs, align: "end", cell: ({ runs }) => format.number(runs) },
    {
      id: "calls",
      label: words.calls,
      align: "end",
      isDetail: true,
      cell: ({ modelCalls }) => format.number(modelCalls),
    },
    {
      id: "input",
      label: words.input,
      align: "end",
      cell: ({ inputTokens }) => format.number(inputTokens),
    },
    {
      id: "output",
      label: words.output,
      align: "end",
      cell: ({ outputTokens }) => format.number(outputTokens),
    },
  ];
  return <DataTable label={words.table} columns={columns} rows={inOrder} rowKey={({ name }) => name} />;
}

function GroupName({ by, group: { name, title } }: { by: UsageBy; group: UsageGroup }): ReactNode {
  const words = useUsageWords();
  if (by === "session")
    return (
      <Link to="/session/$key" params={{ key: name }}>
        <bdi>{title ?? name}</bdi>
      </Link>
    );
  return <bdi>{name === "" ? (by === "model" ? words.noModel : words.nobody) : (title ?? name)}</bdi>;
}

function tokensOf({ inputTokens, outputTokens }: UsageGroup): number {
  return inputTokens + outputTokens;
}
