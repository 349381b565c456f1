import { Alert } from "@mantine/core";
import type { AgentInfo, ChannelStatus, ConfigurationState, Status } from "@signalbox/client";
import { IconAlertTriangle, IconPlugConnected } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Figures } from "../../parts/figures.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { StateBadge, type Tone } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { statusQuery } from "./queries.ts";
import { useChannelsWords } from "./words.ts";

/** State of the gateway and its channels. */
export function ChannelsPage(): ReactNode {
  const { pages } = useWords();
  const words = useChannelsWords();
  const query = useQuery(statusQuery(useClient()));
  return (
    <Page
      title={pages.channels}
      description={words.description}
      actions={
        <ButtonLink to="/setup" variant="default">
          {words.connect}
        </ButtonLink>
      }
    >
      <Loaded query={query}>{(status) => <GatewayStatus status={status} />}</Loaded>
    </Page>
  );
}

function GatewayStatus({ status }: { status: Status }): ReactNode {
  const words = useChannelsWords();
  const format = useFormat();
  const { version, startedAt, inboxPending, outboxPending, channels, agents } = status;
  return (
    <>
      <Figures
        label={words.gateway}
        figures={[
          { name: words.inbox, value: format.number(inboxPending) },
          { name: words.outbox, value: format.number(outboxPending) },
          { name: words.runningSince, value: <Time at={startedAt} /> },
          { name: words.version, value: version },
        ]}
      />
      <ConfigurationNotes {...status.configuration} />
      <Section title={words.accounts}>
        <Accounts channels={channels} />
      </Section>
      <Section title={words.agents}>
        <Agents agents={agents} />
      </Section>
    </>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  ready: "good",
  starting: "busy",
  degraded: "warn",
  down: "bad",
  stopped: "neutral",
};

function Accounts({ channels }: { channels: readonly ChannelStatus[] }): ReactNode {
  const words = useChannelsWords();
  if (channels.length === 0)
    return (
      <Empty
        icon={IconPlugConnected}
        title={words.none}
        action={<ButtonLink to="/setup">{words.connect}</ButtonLink>}
      >
        {words.noneYet}
      </Empty>
    );
  const columns: Column<ChannelStatus>[] = [
    {
      id: "account",
      label: words.account,
      isMain: true,
      cell: ({ channel, account }) => `${channel}/${account}`,
    },
    {
      id: "state",
      label: words.state,
      cell: ({ state }) => (
        <StateBadge tone={TONES[state] ?? "neutral"}>{words.states[state] ?? state}</StateBadge>
      ),
    },
    { id: "reason", label: words.reason, cell: ({ reason }) => reason && <bdi>{reason}</bdi> },
  ];
  return (
    <DataTable
      label={words.accounts}
      columns={columns}
      rows={channels}
      rowKey={({ channel, account }) => `${channel} ${account}`}
    />
  );
}

function Agents({ agents }: { agents: readonly AgentInfo[] }): ReactNode {
  const words = useChannelsWords();
  const columns: Column<AgentInfo>[] = [
    {
      id: "agent",
      label: words.agent,
      isMain: true,
      cell: ({ name, demo }) => (
        <>
          <bdi>{name}</bdi> {demo && <StateBadge tone="warn">{words.demo}</StateBadge>}
        </>
      ),
    },
    { id: "id", label: "id", cell: ({ id }) => <code>{id}</code> },
    { id: "model", label: words.model, cell: ({ model }) => model },
  ];
  return <DataTable label={words.agents} columns={columns} rows={agents} rowKey={({ id }) => id} />;
}

/** Changes to the configuration file that are not applied, if any. */
function ConfigurationNotes({ forStart, kept }: ConfigurationState): ReactNode {
  const words = useChannelsWords();
  if (forStart.length + kept.length === 0) return null;
  return (
    <Alert
      color={kept.length > 0 ? "red" : "yellow"}
      icon={<IconAlertTriangle size={18} aria-hidden />}
      title={words.configuration}
    >
      {forStart.length > 0 && <p>{words.forStart(forStart.join(", "))}</p>}
      {kept.length > 0 && <p>{words.kept(kept.join(", "))}</p>}
    </Alert>
  );
}
