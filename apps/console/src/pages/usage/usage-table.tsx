import type { UsageBy, UsageGroup } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { Bar } from "./bar.tsx";

interface Props {
  by: UsageBy;
  groups: readonly UsageGroup[];
}

/** A row for each group, with its share of the cost, or of the tokens if no model has a price. */
export function UsageTable({ by, groups }: Props): ReactNode {
  const { usage: words } = useWords();
  const format = useFormat();
  const hasCosts = groups.some(({ costMicros }) => costMicros > 0);
  const weightOf = (group: UsageGroup) => (hasCosts ? group.costMicros : tokensOf(group));
  const most = Math.max(...groups.map(weightOf));
  // Days are sorted latest first, other groups by size.
  const inOrder = by === "day" ? groups.toReversed() : groups.toSorted((a, b) => weightOf(b) - weightOf(a));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section className="scrolls" aria-label={words.table} tabIndex={0}>
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">{words.bys[by]}</th>
            <th scope="col">{words.cost}</th>
            <th scope="col" aria-label={words.share} />
            <th scope="col">{words.runs}</th>
            <th scope="col">{words.calls}</th>
            <th scope="col">{words.input}</th>
            <th scope="col">{words.output}</th>
          </tr>
        </thead>
        <tbody>
          {inOrder.map((group) => (
            <tr key={group.name}>
              <th scope="row">
                <GroupName by={by} group={group} />
              </th>
              <td>{format.cost(group.costMicros)}</td>
              <td>
                <Bar share={most === 0 ? 0 : weightOf(group) / most} />
              </td>
              <td>{format.number(group.runs)}</td>
              <td>{format.number(group.modelCalls)}</td>
              <td>{format.number(group.inputTokens)}</td>
              <td>{format.number(group.outputTokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function GroupName({ by, group: { name, title } }: { by: UsageBy; group: UsageGroup }): ReactNode {
  const { usage: words } = useWords();
  if (by === "session")
    return (
      <Link to="/messages/{-$session}" params={{ session: name }}>
        {title ?? name}
      </Link>
    );
  return name === "" ? words.nobody : name;
}

function tokensOf({ inputTokens, outputTokens }: UsageGroup): number {
  return inputTokens + outputTokens;
}
