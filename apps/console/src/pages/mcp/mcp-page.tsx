import "../../styles/mantine-forms.css";
import { Alert, Button, Card, Group, List, Stack, Text } from "@mantine/core";
import type { McpServerInfo, McpToolInfo } from "@signalbox/client";
import { IconPlug } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { serversQuery, toolsQuery } from "./queries.ts";
import { SignInState } from "./sign-in-state.tsx";
import { useMcpWords } from "./words.ts";

/** Lists MCP servers with their tools, starts them, accepts changed descriptions, and signs in. */
export function McpPage(): ReactNode {
  const { pages } = useWords();
  const words = useMcpWords();
  const query = useQuery(serversQuery(useClient()));
  return (
    <Page title={pages.mcp} description={words.description}>
      <Loaded query={query}>{(servers) => <Servers servers={servers} />}</Loaded>
    </Page>
  );
}

function Servers({ servers }: { servers: readonly McpServerInfo[] }): ReactNode {
  const words = useMcpWords();
  if (servers.length === 0)
    return (
      <Empty
        icon={IconPlug}
        title={words.none}
        action={
          <ButtonLink to="/configuration" search={{ section: "mcp" }}>
            {words.configure}
          </ButtonLink>
        }
      >
        {words.noneYet}
      </Empty>
    );
  return (
    <Stack gap="md">
      {servers.map((server) => (
        <Server key={server.name} server={server} />
      ))}
    </Stack>
  );
}

const TONES = { ready: "good", down: "bad", starting: "busy", "not started": "neutral" } as const;

function Server({ server }: { server: McpServerInfo }): ReactNode {
  const { name, state, notes } = server;
  const words = useMcpWords();
  const client = useClient();
  const queries = useQueryClient();
  const scopes = useScopes();
  const query = useQuery(toolsQuery(client, name));
  const start = useChange({
    run: () => client.mcpTools(name, { start: true }),
    done: ({ tools }) => words.started(tools.length),
    refresh: ["mcp"],
  });
  const run = () =>
    start.mutate(undefined, {
      onSuccess: (list) => queries.setQueryData(toolsQuery(client, name).queryKey, list),
    });
  const accept = useChange({
    run: (changes: string) => client.acceptMcpTools(name, changes),
    done: words.accepted,
    refresh: ["mcp", "mcp-tools"],
  });
  const changes = query.data?.changes;
  return (
    <Card withBorder component="section" aria-label={name}>
      <Stack gap="xs">
        <Group gap="xs">
          <Text fw={600}>
            <bdi>{name}</bdi>
          </Text>
          <StateBadge tone={TONES[state]}>{words.states[state]}</StateBadge>
          <Text size="sm" c="dimmed">
            <bdi>{query.data?.at}</bdi>
          </Text>
        </Group>
        {notes.length > 0 && (
          <List size="sm">
            {notes.map((note) => (
              <List.Item key={note}>
                <bdi>{note}</bdi>
              </List.Item>
            ))}
          </List>
        )}
        <SignInState server={server} />
        <Loaded query={query} rows={1}>
          {({ agents, tools }) => (
            <>
              <Text size="sm" c="dimmed">
                <bdi>{agents.length === 0 ? words.usedByNobody : words.usedBy(agents.join(", "))}</bdi>
              </Text>
              {changes !== undefined && <Alert color="yellow">{words.review}</Alert>}
              {tools.length > 0 && <Tools label={name} tools={tools} />}
            </>
          )}
        </Loaded>
        {scopes.has("owner") && (
          <Group justify="flex-end" gap="xs">
            {state !== "ready" && (
              <Button variant="default" size="xs" loading={start.isPending} onClick={run}>
                {words.start}
              </Button>
            )}
            {changes !== undefined && (
              <ConfirmButton
                label={words.accept}
                question={words.reallyAccept(name)}
                onConfirm={() => accept.mutate(changes)}
              >
                {words.accepts}
              </ConfirmButton>
            )}
          </Group>
        )}
      </Stack>
    </Card>
  );
}

function Tools({ label, tools }: { label: string; tools: readonly McpToolInfo[] }): ReactNode {
  const words = useMcpWords();
  const columns: Column<McpToolInfo>[] = [
    {
      id: "tool",
      label: words.tool,
      isMain: true,
      cell: ({ name, description, schema, changed }) => (
        <>
          <Group gap="xs">
            <bdi>{name}</bdi>
            {changed && <StateBadge tone="warn">{words.changed}</StateBadge>}
          </Group>
          <Text size="sm" c="dimmed">
            <bdi>{description}</bdi>
          </Text>
          {schema !== undefined && <CodeBlock label={words.schema} text={schema} />}
        </>
      ),
    },
    { id: "agents", label: words.agents, cell: ({ agents }) => <bdi>{agents.join(", ")}</bdi> },
  ];
  return <DataTable label={label} columns={columns} rows={tools} rowKey={({ name }) => name} />;
}
