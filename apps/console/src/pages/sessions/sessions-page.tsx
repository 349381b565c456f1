import { Text } from "@mantine/core";
import type { SessionInfo } from "@signalbox/client";
import { IconSearch, IconStack2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { sessionsQuery } from "./queries.ts";
import { useSessionsWords } from "./words.ts";

/** Sessions of all channels, each with a link to its transcript. */
export function SessionsPage(): ReactNode {
  const { pages } = useWords();
  const words = useSessionsWords();
  const [wanted, setWanted] = useState("");
  const query = useQuery(sessionsQuery(useClient()));
  return (
    <Page
      title={pages.sessions}
      description={words.description}
      actions={<SearchField label={words.search} wanted={wanted} onSearch={setWanted} />}
    >
      <Loaded query={query}>
        {(sessions) =>
          sessions.length === 0 ? (
            <Empty icon={IconStack2} title={words.none}>
              {words.noneYet}
            </Empty>
          ) : (
            <SessionTable sessions={sessions.filter((each) => isAbout(each, wanted))} />
          )
        }
      </Loaded>
    </Page>
  );
}

function SessionTable({ sessions }: { sessions: readonly SessionInfo[] }): ReactNode {
  const { pages } = useWords();
  const words = useSessionsWords();
  const format = useFormat();
  if (sessions.length === 0)
    return (
      <Empty icon={IconSearch} title={words.noneMatch}>
        {words.tryOther}
      </Empty>
    );
  const sum = (of: (session: SessionInfo) => number) => sessions.reduce((total, each) => total + of(each), 0);
  const columns: Column<SessionInfo>[] = [
    {
      id: "session",
      label: words.session,
      isMain: true,
      cell: ({ key, title, peer, peerName, busy }) => (
        <>
          <Link to="/session/$key" params={{ key: key }}>
            <bdi>{title ?? peerName ?? peer}</bdi>
          </Link>{" "}
          {busy && <StateBadge tone="busy">{words.working}</StateBadge>}
        </>
      ),
    },
    {
      id: "via",
      label: words.via,
      cell: ({ channel, account, kind }) => `${channel}/${account} · ${words.kinds[kind] ?? kind}`,
    },
    {
      id: "person",
      label: words.person,
      cell: ({ peer, peerName }) => <bdi title={peer}>{peerName ?? peer}</bdi>,
    },
    { id: "agent", label: words.agent, isDetail: true, cell: ({ agent }) => agent },
    {
      id: "messages",
      label: words.messages,
      align: "end",
      cell: ({ messages }) => format.number(messages),
    },
    {
      id: "tokens",
      label: words.tokens,
      align: "end",
      isDetail: true,
      cell: ({ tokens }) => format.compact(tokens),
    },
    { id: "cost", label: words.cost, align: "end", cell: ({ costMicros }) => format.cost(costMicros) },
    { id: "updated", label: words.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ];
  return (
    <>
      <Text size="sm" c="dimmed">
        {words.totals(
          format.number(sessions.length),
          format.number(sum(({ tokens }) => tokens)),
          format.cost(sum(({ costMicros }) => costMicros)),
        )}
      </Text>
      <DataTable label={pages.sessions} columns={columns} rows={sessions} rowKey={({ key }) => key} />
    </>
  );
}

function isAbout({ key, title = "", peerName = "", channel, agent }: SessionInfo, wanted: string): boolean {
  const text = `${title} ${peerName} ${channel} ${agent} ${key}`.toLocaleLowerCase();
  return text.includes(wanted.trim().toLocaleLowerCase());
}
