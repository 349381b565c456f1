import "../../styles/mantine-forms.css";
import { Card, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import type { MemoryEntry, MemoryResult } from "@signalbox/client";
import { IconBrain } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient, useGateway } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { TextLink } from "../../parts/links.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { EditEntry } from "./edit-entry.tsx";
import { memoryQuery } from "./queries.ts";
import { useMemoryWords } from "./words.ts";

/** Delay between the last key and a search, in milliseconds. */
const SEARCH_DELAY_MS = 300;

/** Searches an agent's memory with the source of each entry, edits notes, and forgets entries. */
export function MemoryPage(): ReactNode {
  const { pages } = useWords();
  const words = useMemoryWords();
  const { agents } = useGateway().me;
  const [agent, setAgent] = useState(agents.find((each) => each.default)?.id ?? agents[0]?.id ?? "");
  const [wanted, setWanted] = useState("");
  const [searched] = useDebouncedValue(wanted.trim(), SEARCH_DELAY_MS);
  const query = useQuery(memoryQuery(useClient(), agent, searched));
  return (
    <Page title={pages.memory} description={words.description}>
      <Group gap="sm" align="end">
        <NativeSelect
          label={words.agent}
          value={agent}
          data={agents.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => setAgent(event.currentTarget.value)}
        />
        <SearchField label={words.search} wanted={wanted} onSearch={setWanted} />
      </Group>
      <Loaded query={query}>
        {(result) => <Entries agent={agent} result={result} isSearch={searched !== ""} />}
      </Loaded>
    </Page>
  );
}

interface EntriesProps {
  agent: string;
  result: MemoryResult;
  isSearch: boolean;
}

function Entries({ agent, result: { entries, notes, turns }, isSearch }: EntriesProps): ReactNode {
  const words = useMemoryWords();
  if (!isSearch)
    return (
      <Empty icon={IconBrain} title={words.begin}>
        {words.beginHelp(notes, turns)}
      </Empty>
    );
  if (entries.length === 0)
    return (
      <Empty icon={IconBrain} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  return (
    <Stack gap="sm">
      {entries.map((entry) => (
        <Entry key={entry.id} agent={agent} entry={entry} />
      ))}
    </Stack>
  );
}

function Entry({ agent, entry }: { agent: string; entry: MemoryEntry }): ReactNode {
  const { id, source, text, at, scope, scopeId, author, messageId, untrusted, path, lines } = entry;
  const words = useMemoryWords();
  const client = useClient();
  const scopes = useScopes();
  const forget = useChange({
    run: () => client.forgetMemory(agent, [id]),
    done: (ids) => words.forgotten(ids.length),
    refresh: ["memory"],
  });
  return (
    <Card withBorder component="article">
      <Stack gap="xs">
        <Group gap="xs">
          <StateBadge tone="busy">{words.sources[source]}</StateBadge>
          <StateBadge tone="neutral">{words.scopes[scope]}</StateBadge>
          {untrusted !== undefined && <StateBadge tone="warn">{words.untrusted}</StateBadge>}
          {at !== undefined && <Time at={at} />}
        </Group>
        <Text size="sm">
          <bdi>{text}</bdi>
        </Text>
        <Text size="xs" c="dimmed">
          <bdi>
            {[author, scopeId, untrusted, path && `${path}:${lines?.[0] ?? 1}`].filter(Boolean).join(" · ")}
          </bdi>
        </Text>
        <Group justify="space-between">
          {messageId === undefined ? (
            path === undefined ? (
              <span />
            ) : (
              <TextLink size="sm" to="/agent/$id" params={{ id: agent }} search={{ tab: "files", path }}>
                {words.openNote}
              </TextLink>
            )
          ) : (
            <TextLink size="sm" to="/message/$id" params={{ id: messageId }}>
              {words.openMessage}
            </TextLink>
          )}
          <Group gap="xs">
            {scopes.has("write") && source === "turn" && (
              <Text size="xs" c="dimmed">
                {words.isMessage}
              </Text>
            )}
            {scopes.has("owner") && source === "note" && <EditEntry agent={agent} entry={entry} />}
            {scopes.has("write") && (
              <ConfirmButton
                label={words.forget}
                question={words.reallyForget}
                onConfirm={() => forget.mutate()}
              >
                {words.forgets}
              </ConfirmButton>
            )}
          </Group>
        </Group>
      </Stack>
    </Card>
  );
}
