import "../../styles/mantine-forms.css";
import { Code, Tabs, Text } from "@mantine/core";
import type { AgentDetails, AgentTool } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Facts } from "../../parts/facts.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useLanguage } from "../../words/words.tsx";
import { SkillTable } from "../skills/skill-table.tsx";
import { PromptSections } from "./prompt-sections.tsx";
import { agentQuery } from "./queries.ts";
import { AGENT_TABS } from "./search.ts";
import { useAgentWords } from "./words.ts";
import { WorkspaceFiles } from "./workspace-files.tsx";

const route = getRouteApi("/agent/$id");

/** One agent: model, tools with the reasons, skills, workspace files and the latest prompt. */
export function AgentPage(): ReactNode {
  const words = useAgentWords();
  const { id } = route.useParams();
  const query = useQuery(agentQuery(useClient(), id, useLanguage()[0]));
  const edit = (
    <ButtonLink to="/configuration" search={{ section: "agents" }} variant="default">
      {words.edit}
    </ButtonLink>
  );
  return (
    <Page title={query.data?.name ?? id} actions={edit}>
      <Loaded query={query}>{(agent) => <Details agent={agent} />}</Loaded>
    </Page>
  );
}

function Details({ agent }: { agent: AgentDetails }): ReactNode {
  const words = useAgentWords();
  const { tab = "tools" } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (value: string | null) => {
    const next = AGENT_TABS.find((each) => each === value);
    if (next !== undefined) void navigate({ search: { tab: next }, replace: true });
  };
  return (
    <>
      <Facts
        facts={[
          { name: words.model, value: <bdi>{agent.model}</bdi> },
          { name: words.fallbacks, value: <bdi>{agent.fallbacks.join(", ") || words.noFallbacks}</bdi> },
          {
            name: words.workspace,
            value: (
              <Code>
                <bdi>{agent.workspace}</bdi>
              </Code>
            ),
          },
        ]}
      />
      <Tabs value={tab} onChange={choose} keepMounted={false}>
        <Tabs.List mb="md">
          {AGENT_TABS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {words.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="tools">
          <Tools tools={agent.tools} />
        </Tabs.Panel>
        <Tabs.Panel value="skills">
          <SkillTable label={words.skills} skills={agent.skills} />
        </Tabs.Panel>
        <Tabs.Panel value="files">
          <WorkspaceFiles agent={agent.id} />
        </Tabs.Panel>
        <Tabs.Panel value="prompt">
          <PromptSections agent={agent.id} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

const TONES = { allow: "good", ask: "warn", deny: "neutral" } as const;
const ORDER = { allow: 0, ask: 1, deny: 2 } as const;

function Tools({ tools }: { tools: readonly AgentTool[] }): ReactNode {
  const words = useAgentWords();
  const columns: Column<AgentTool>[] = [
    {
      id: "tool",
      label: words.tool,
      isMain: true,
      cell: ({ name, source }) => (
        <>
          <bdi>{name}</bdi>
          {source !== "built-in" && (
            <Text size="xs" c="dimmed">
              {words.sources[source]}
            </Text>
          )}
        </>
      ),
    },
    {
      id: "decision",
      label: words.decision,
      cell: ({ decision }) => <StateBadge tone={TONES[decision]}>{words.decisions[decision]}</StateBadge>,
    },
    {
      id: "reason",
      label: words.reason,
      cell: ({ reason, rule }) => (
        <>
          <bdi>{reason}</bdi>
          <Text size="xs" c="dimmed">
            <bdi>{rule}</bdi>
          </Text>
        </>
      ),
    },
  ];
  const sorted = tools.toSorted(
    (a, b) => ORDER[a.decision] - ORDER[b.decision] || a.name.localeCompare(b.name),
  );
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {words.toolsHelp}
      </Text>
      <DataTable label={words.tabs.tools} columns={columns} rows={sorted} rowKey={({ name }) => name} />
    </>
  );
}
