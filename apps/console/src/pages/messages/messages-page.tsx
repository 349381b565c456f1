import { Button, Group, Text } from "@mantine/core";
import type { MessageInfo, MessageList } from "@signalbox/client";
import { IconMessages, IconSearch } from "@tabler/icons-react";
import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { MessageState } from "../../parts/message-state.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { Filters } from "./filters.tsx";
import { messagesQuery } from "./queries.ts";
import { useMessagesWords } from "./words.ts";

const route = getRouteApi("/messages");

/** Messages of all channels with a search and filters, each with a link to its explanation. */
export function MessagesPage(): ReactNode {
  const { pages, moreRows } = useWords();
  const words = useMessagesWords();
  const format = useFormat();
  const search = route.useSearch();
  const query = useInfiniteQuery(messagesQuery(useClient(), search));
  return (
    <Page title={pages.messages} description={words.description}>
      <Filters />
      <Loaded query={query}>
        {(data: InfiniteData<MessageList>) => {
          const messages = data.pages.flatMap((page) => page.messages);
          return (
            <>
              {messages.length > 0 && <MessageTable messages={messages} />}
              {messages.length === 0 && !query.hasNextPage && (
                <NoMessages isFiltered={Object.keys(search).length > 0} />
              )}
              <Group justify="center" gap="md">
                {messages.length > 0 && (
                  <Text size="sm" c="dimmed">
                    {words.shown(format.number(messages.length))}
                  </Text>
                )}
                {query.hasNextPage && (
                  <Button
                    variant="default"
                    loading={query.isFetchingNextPage}
                    onClick={() => void query.fetchNextPage()}
                  >
                    {moreRows}
                  </Button>
                )}
              </Group>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function NoMessages({ isFiltered }: { isFiltered: boolean }): ReactNode {
  const words = useMessagesWords();
  const navigate = route.useNavigate();
  return isFiltered ? (
    <Empty
      icon={IconSearch}
      title={words.noneMatch}
      action={
        <Button variant="default" onClick={() => void navigate({ search: {} })}>
          {words.showAll}
        </Button>
      }
    >
      {words.tryOther}
    </Empty>
  ) : (
    <Empty icon={IconMessages} title={words.none}>
      {words.noneYet}
    </Empty>
  );
}

function MessageTable({ messages }: { messages: readonly MessageInfo[] }): ReactNode {
  const { pages } = useWords();
  const words = useMessagesWords();
  const columns: Column<MessageInfo>[] = [
    {
      id: "message",
      label: words.message,
      isMain: true,
      cell: ({ id, text }) => (
        <Link to="/message/$id" params={{ id }}>
          <bdi>{text === "" ? words.withoutText : text.slice(0, 300)}</bdi>
        </Link>
      ),
    },
    {
      id: "from",
      label: words.from,
      cell: ({ sender, senderName }) => <bdi title={sender}>{senderName ?? sender}</bdi>,
    },
    { id: "via", label: words.channel, cell: ({ channel, account }) => `${channel}/${account}` },
    { id: "agent", label: words.agent, isDetail: true, cell: ({ agent }) => agent },
    { id: "state", label: words.state, cell: ({ state }) => <MessageState state={state} /> },
    { id: "time", label: words.time, cell: ({ at }) => <Time at={at} /> },
  ];
  return <DataTable label={pages.messages} columns={columns} rows={messages} rowKey={({ id }) => id} />;
}
