import { Alert, Button, NativeSelect, Text } from "@mantine/core";
import type { AuditKind, AuditRecord } from "@signalbox/client";
import { IconListDetails } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { LoadingRows, Page } from "../../parts/page.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useWords } from "../../words/words.tsx";
import { auditQuery, verdictQuery } from "./queries.ts";
import { useAuditWords } from "./words.ts";

const KINDS = ["approval", "configuration", "operation", "pairing", "sign_in", "token", "tool"] as const;

/** Pages through the audit log and verifies it. */
export function AuditPage(): ReactNode {
  const { pages, tryAgain, moreRows } = useWords();
  const words = useAuditWords();
  const client = useClient();
  const [kind, setKind] = useState<AuditKind>();
  const query = useInfiniteQuery(auditQuery(client, kind));
  const verdict = useQuery(verdictQuery(client));
  const entries = query.data?.pages.flatMap((page) => page.entries);
  const verify = (
    <Button variant="default" loading={verdict.isFetching} onClick={() => void verdict.refetch()}>
      {words.verify}
    </Button>
  );
  return (
    <Page title={pages.audit} description={words.description} actions={verify}>
      <Verdict query={verdict} />
      <NativeSelect
        label={words.kind}
        value={kind ?? ""}
        data={[
          { value: "", label: words.all },
          ...KINDS.map((value) => ({ value, label: words.kinds[value] })),
        ]}
        maw={260}
        onChange={(event) => setKind(KINDS.find((each) => each === event.currentTarget.value))}
      />
      {query.error !== null && (
        <ProblemNote
          problem={toProblem(query.error)}
          action={{ label: tryAgain, run: () => void query.refetch() }}
        />
      )}
      {query.isPending && <LoadingRows />}
      {entries && <Entries entries={entries} />}
      {query.hasNextPage && (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {moreRows}
        </Button>
      )}
    </Page>
  );
}

function Verdict({
  query: { data, error },
}: {
  query: ReturnType<typeof useQuery<Awaited<ReturnType<ReturnType<typeof useClient>["verifyAudit"]>>>>;
}): ReactNode {
  const words = useAuditWords();
  if (error !== null) return <ProblemNote problem={toProblem(error)} />;
  if (data === undefined) return null;
  return data.intact ? (
    <Alert color="signal">{words.intact(data.count)}</Alert>
  ) : (
    <Alert color="red" title={words.broken(data.seq ?? 0)}>
      {data.reason}
    </Alert>
  );
}

function Entries({ entries }: { entries: readonly AuditRecord[] }): ReactNode {
  const words = useAuditWords();
  if (entries.length === 0)
    return (
      <Empty icon={IconListDetails} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  const columns: Column<AuditRecord>[] = [
    {
      id: "subject",
      label: words.subject,
      isMain: true,
      cell: ({ subject, details = {} }) => (
        <>
          <bdi>{subject}</bdi>
          {Object.entries(details).map(([name, value]) => (
            <Text key={name} size="xs" c="dimmed">
              <bdi>
                {name}: {String(value)}
              </bdi>
            </Text>
          ))}
        </>
      ),
    },
    {
      id: "action",
      label: words.action,
      cell: ({ kind, action }) => (
        <StateBadge tone="neutral">
          {KINDS.some((each) => each === kind) ? words.kinds[kind as AuditKind] : kind}: {action}
        </StateBadge>
      ),
    },
    { id: "actor", label: words.actor, cell: ({ actor }) => <bdi>{actor}</bdi> },
    { id: "time", label: words.time, cell: ({ at }) => <Time at={at} /> },
  ];
  return (
    <DataTable label={words.description} columns={columns} rows={entries} rowKey={({ seq }) => String(seq)} />
  );
}
