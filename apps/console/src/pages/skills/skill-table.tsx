import { Text } from "@mantine/core";
import type { AgentSkill } from "@signalbox/client";
import { IconPuzzle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useSkillsWords } from "./words.ts";

const TONES = { active: "good", pending: "warn", excluded: "neutral" } as const;

/** The skills of one agent, with the reasons why some cannot be used. */
export function SkillTable({ label, skills }: { label: string; skills: readonly AgentSkill[] }): ReactNode {
  const words = useSkillsWords();
  if (skills.length === 0)
    return (
      <Empty icon={IconPuzzle} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  const columns: Column<AgentSkill>[] = [
    {
      id: "skill",
      label: words.skill,
      isMain: true,
      cell: ({ id, description, reasons, install }) => (
        <>
          <bdi>{id}</bdi>
          <Text size="sm" c="dimmed">
            <bdi>{description}</bdi>
          </Text>
          {reasons.map((reason) => (
            <Text key={reason} size="sm">
              <bdi>{reason}</bdi>
            </Text>
          ))}
          {install !== undefined && (
            <CodeBlock label={words.install(install.methods.join(", "))} text={install.command} isWrapped />
          )}
        </>
      ),
    },
    { id: "source", label: words.source, cell: ({ source }) => <bdi>{source}</bdi> },
    {
      id: "state",
      label: words.state,
      cell: ({ state }) => <StateBadge tone={TONES[state]}>{words.states[state]}</StateBadge>,
    },
  ];
  return (
    <DataTable label={label} columns={columns} rows={skills} rowKey={({ id, source }) => `${source} ${id}`} />
  );
}
