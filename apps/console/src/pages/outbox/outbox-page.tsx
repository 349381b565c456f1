import "../../styles/mantine-forms.css";
import { Group, Switch, Text } from "@mantine/core";
import type { OutboxReply } from "@signalbox/client";
import { IconSend } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { outboxQuery } from "./queries.ts";
import { useOutboxWords } from "./words.ts";

/** Lists replies that were not delivered, and sends them again or discards them. */
export function OutboxPage(): ReactNode {
  const { pages } = useWords();
  const words = useOutboxWords();
  const [all, setAll] = useState(false);
  const query = useQuery(outboxQuery(useClient(), all));
  return (
    <Page title={pages.outbox} description={words.description}>
      <Switch label={words.all} checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
      <Loaded query={query}>{(replies) => <Replies replies={replies} />}</Loaded>
    </Page>
  );
}

function Replies({ replies }: { replies: readonly OutboxReply[] }): ReactNode {
  const words = useOutboxWords();
  const scopes = useScopes();
  if (replies.length === 0)
    return (
      <Empty icon={IconSend} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  const columns: Column<OutboxReply>[] = [
    {
      id: "text",
      label: words.text,
      isMain: true,
      cell: ({ text, error }) => (
        <>
          <Text size="sm" lineClamp={4}>
            <bdi>{text === "" ? words.noText : text}</bdi>
          </Text>
          {error !== undefined && (
            <Text size="sm" c="dimmed">
              <bdi>{error}</bdi>
            </Text>
          )}
        </>
      ),
    },
    {
      id: "where",
      label: words.where,
      cell: ({ channel, account }) => (
        <bdi>
          {channel}/{account}
        </bdi>
      ),
    },
    {
      id: "state",
      label: words.state,
      cell: ({ state, attempts }) => (
        <Group gap="xs" wrap="nowrap">
          <StateBadge tone={state === "dead" ? "bad" : state === "uncertain" ? "warn" : "neutral"}>
            {words.states[state]}
          </StateBadge>
          <Text size="xs" c="dimmed">
            {words.tries(attempts)}
          </Text>
        </Group>
      ),
    },
    { id: "time", label: words.time, cell: ({ createdAt }) => <Time at={createdAt} /> },
    ...(scopes.has("write")
      ? [
          {
            id: "actions",
            label: words.actions,
            align: "end" as const,
            cell: (reply: OutboxReply) => <Actions reply={reply} />,
          },
        ]
      : []),
  ];
  return <DataTable label={words.description} columns={columns} rows={replies} rowKey={({ id }) => id} />;
}

function Actions({ reply: { id, state } }: { reply: OutboxReply }): ReactNode {
  const words = useOutboxWords();
  const client = useClient();
  const refresh = ["outbox"];
  const retry = useChange({ run: () => client.retryReply(id), done: words.retried, refresh });
  const drop = useChange({ run: () => client.dropReply(id), done: words.dropped, refresh });
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <ConfirmButton label={words.retry} question={words.reallyRetry} onConfirm={() => retry.mutate()}>
        {state === "uncertain" ? words.mayRepeat : undefined}
      </ConfirmButton>
      <ConfirmButton label={words.drop} question={words.reallyDrop} onConfirm={() => drop.mutate()}>
        {words.drops}
      </ConfirmButton>
    </Group>
  );
}
