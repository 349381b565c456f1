import { Button, Group } from "@mantine/core";
import type { SessionInfo } from "@signalbox/client";
import { IconMessageOff, IconMessages } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Figures } from "../../parts/figures.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { sessionsQuery } from "../sessions/queries.ts";
import { transcriptQuery } from "./queries.ts";
import { Transcript } from "./transcript.tsx";
import { useSessionWords } from "./words.ts";

const route = getRouteApi("/session/$key");

/** One session of any channel: its figures and its messages with tool calls. */
export function SessionPage(): ReactNode {
  const { pages } = useWords();
  const words = useSessionWords();
  const client = useClient();
  const navigate = useNavigate();
  const { key } = route.useParams();
  const { data: sessions = [] } = useQuery(sessionsQuery(client));
  const query = useInfiniteQuery(transcriptQuery(client, key));
  const session = sessions.find((each) => each.key === key);
  return (
    <Page
      title={session?.title ?? session?.peerName ?? pages.session}
      description={session?.busy ? <StateBadge tone="busy">{words.working}</StateBadge> : undefined}
      actions={
        <Button
          variant="default"
          leftSection={<IconMessages size={16} aria-hidden />}
          onClick={() => void navigate({ to: "/messages", search: { session: key } })}
        >
          {words.outcomes}
        </Button>
      }
    >
      {session && <SessionFigures session={session} />}
      <Section title={words.transcript}>
        <Loaded query={query}>
          {({ pages: loaded }) =>
            loaded.every(({ messages }) => messages.length === 0) ? (
              <Empty icon={IconMessageOff} title={words.none}>
                {words.noneYet}
              </Empty>
            ) : (
              <>
                {query.hasNextPage && (
                  <Group justify="center">
                    <Button
                      variant="default"
                      loading={query.isFetchingNextPage}
                      onClick={() => void query.fetchNextPage()}
                    >
                      {words.earlier}
                    </Button>
                  </Group>
                )}
                <Transcript pages={loaded} />
              </>
            )
          }
        </Loaded>
      </Section>
    </Page>
  );
}

function SessionFigures({ session }: { session: SessionInfo }): ReactNode {
  const words = useSessionWords();
  const format = useFormat();
  const { agent, channel, account, peer, peerName, messages, tokens, costMicros, updatedAt, key } = session;
  return (
    <>
      <Figures
        label={words.transcript}
        figures={[
          { name: words.messages, value: format.number(messages) },
          { name: words.tokens, value: format.compact(tokens) },
          { name: words.cost, value: format.cost(costMicros) },
          { name: words.updated, value: <Time at={updatedAt} /> },
        ]}
      />
      <Facts
        facts={[
          { name: words.agent, value: agent },
          {
            name: words.where,
            value: (
              <>
                {channel}/{account} · <bdi>{peerName ?? peer}</bdi>
              </>
            ),
          },
          { name: words.key, value: <code>{key}</code> },
        ]}
      />
    </>
  );
}
