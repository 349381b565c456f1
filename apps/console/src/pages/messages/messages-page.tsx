import { Code } from "@mantine/core";
import type { MessageInfo } from "@signalbox/client";
import { IconMessages } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { MessageState } from "../../parts/message-state.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { useWords } from "../../words/words.tsx";
import { messagesQuery } from "./queries.ts";
import { useMessagesWords } from "./words.ts";

const route = getRouteApi("/messages");

/** Latest messages of all channels or of one session, each with a link to its trace. */
export function MessagesPage(): ReactNode {
  const { pages } = useWords();
  const words = useMessagesWords();
  const { session } = route.useSearch();
  const query = useQuery(messagesQuery(useClient(), session));
  return (
    <Page title={pages.messages} description={words.description}>
      {session !== undefined && (
        <p>
          {words.ofSession} <Code>{session}</Code>{" "}
          <Link to="/messages" search={{}}>
            {words.all}
          </Link>
        </p>
      )}
      <Loaded query={query}>{(messages) => <MessageTable messages={messages} />}</Loaded>
    </Page>
  );
}

function MessageTable({ messages }: { messages: readonly MessageInfo[] }): ReactNode {
  const { pages } = useWords();
  const words = useMessagesWords();
  if (messages.length === 0)
    return (
      <Empty icon={IconMessages} title={words.none}>
        {words.noneYet}
      </Empty>
    );
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
    { id: "from", label: words.from, cell: ({ sender }) => <bdi>{sender}</bdi> },
    { id: "via", label: words.via, cell: ({ channel, account }) => `${channel}/${account}` },
    { id: "agent", label: words.agent, isDetail: true, cell: ({ agent }) => agent },
    { id: "state", label: words.state, cell: ({ state }) => <MessageState state={state} /> },
    { id: "time", label: words.time, cell: ({ at }) => <Time at={at} /> },
  ];
  return <DataTable label={pages.messages} columns={columns} rows={messages} rowKey={({ id }) => id} />;
}
