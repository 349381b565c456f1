import { Group } from "@mantine/core";
import type { AgentInfo } from "@signalbox/client";
import { IconRobot } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useWords } from "../../words/words.tsx";
import { agentsQuery } from "./queries.ts";
import { useAgentsWords } from "./words.ts";

/** Lists the agents. */
export function AgentsPage(): ReactNode {
  const { pages } = useWords();
  const words = useAgentsWords();
  const query = useQuery(agentsQuery(useClient()));
  const configure = (
    <ButtonLink to="/configuration" search={{ section: "agents" }} variant="default">
      {words.configure}
    </ButtonLink>
  );
  return (
    <Page title={pages.agents} description={words.description} actions={configure}>
      <Loaded query={query}>{(agents) => <Agents agents={agents} />}</Loaded>
    </Page>
  );
}

function Agents({ agents }: { agents: readonly AgentInfo[] }): ReactNode {
  const words = useAgentsWords();
  if (agents.length === 0)
    return (
      <Empty icon={IconRobot} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  const columns: Column<AgentInfo>[] = [
    {
      id: "agent",
      label: words.agent,
      isMain: true,
      cell: ({ id, name, default: isDefault, demo }) => (
        <Group gap="xs">
          <TextLink to="/agent/$id" params={{ id }}>
            <bdi>{name}</bdi>
          </TextLink>
          {isDefault && <StateBadge tone="busy">{words.isDefault}</StateBadge>}
          {demo && <StateBadge tone="warn">{words.isDemo}</StateBadge>}
        </Group>
      ),
    },
    { id: "id", label: "ID", cell: ({ id }) => <bdi>{id}</bdi> },
    { id: "model", label: words.model, cell: ({ model }) => <bdi>{model}</bdi> },
  ];
  return <DataTable label={words.description} columns={columns} rows={agents} rowKey={({ id }) => id} />;
}
