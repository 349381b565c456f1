import { Button, Text } from "@mantine/core";
import type { HealthFinding } from "@signalbox/client";
import { IconHeartbeat } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useLanguage, useWords } from "../../words/words.tsx";
import { checksQuery, healthQuery } from "./queries.ts";
import { useHealthWords } from "./words.ts";

/** Shows the results of the checks, problems first. */
export function HealthPage(): ReactNode {
  const { pages } = useWords();
  const words = useHealthWords();
  const client = useClient();
  const query = useQuery(healthQuery(client, useLanguage()[0]));
  const checks = useQuery(checksQuery(client));
  const check = (
    <Button variant="default" loading={checks.isFetching} onClick={() => void checks.refetch()}>
      {words.check}
    </Button>
  );
  return (
    <Page title={pages.health} description={words.description} actions={check}>
      {checks.error !== null && <ProblemNote problem={toProblem(checks.error)} />}
      {checks.data && (
        <Section title={words.remote}>
          <Findings
            label={words.remote}
            findings={checks.data.map(({ ok, ...rest }) => ({ ...rest, state: ok ? "ok" : "warning" }))}
          />
        </Section>
      )}
      <Loaded query={query}>
        {(findings) => {
          const problems = findings.filter(({ state }) => state !== "ok");
          const good = findings.filter(({ state }) => state === "ok");
          return (
            <>
              <Section title={words.problems}>
                {problems.length === 0 ? (
                  <Empty icon={IconHeartbeat} title={words.allGood}>
                    {words.allGoodNow}
                  </Empty>
                ) : (
                  <Findings label={words.problems} findings={problems} />
                )}
              </Section>
              <Section title={words.good}>
                <Findings label={words.good} findings={good} />
              </Section>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const TONES = { ok: "good", warning: "warn", error: "bad" } as const;

function Findings({ label, findings }: { label: string; findings: readonly HealthFinding[] }): ReactNode {
  const words = useHealthWords();
  const columns: Column<HealthFinding>[] = [
    { id: "part", label: words.part, isMain: true, cell: ({ part }) => <bdi>{part}</bdi> },
    {
      id: "state",
      label: words.state,
      cell: ({ state }) => <StateBadge tone={TONES[state]}>{words.states[state]}</StateBadge>,
    },
    {
      id: "detail",
      label: words.detail,
      cell: ({ detail, remedy, state }) => (
        <>
          <bdi>{detail}</bdi>
          {remedy !== undefined && state !== "ok" && (
            <Text size="sm" c="dimmed">
              <bdi>{remedy}</bdi>
            </Text>
          )}
        </>
      ),
    },
  ];
  return (
    <DataTable
      label={label}
      columns={columns}
      rows={findings}
      rowKey={({ part, detail }) => `${part} ${detail}`}
    />
  );
}
