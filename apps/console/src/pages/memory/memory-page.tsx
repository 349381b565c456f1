import "../../styles/mantine-forms.css";
import { Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconBrain, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient, useGateway } from "../../gateway.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { AddNote } from "./add-note.tsx";
import { Entry } from "./entry.tsx";
import { memoryQuery } from "./queries.ts";
import { useMemoryWords } from "./words.ts";

/** Delay between the last key and a search, in milliseconds. */
const SEARCH_DELAY_MS = 300;

/** Lists an agent's notes, searches its memory, adds and edits notes, and forgets entries. */
export function MemoryPage(): ReactNode {
  const { pages, moreRows } = useWords();
  const words = useMemoryWords();
  const scopes = useScopes();
  const { agents } = useGateway().me;
  const [agent, setAgent] = useState(agents.find((each) => each.default)?.id ?? agents[0]?.id ?? "");
  const [wanted, setWanted] = useState("");
  const [searched] = useDebouncedValue(wanted.trim(), SEARCH_DELAY_MS);
  const query = useInfiniteQuery(memoryQuery(useClient(), agent, searched));
  return (
    <Page
      title={pages.memory}
      description={words.description}
      actions={scopes.has("owner") && agent !== "" && <AddNote agent={agent} />}
    >
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
        {({ pages: results }) => {
          const entries = results.flatMap((result) => result.entries);
          const { notes = 0, turns = 0 } = results[0] ?? {};
          return (
            <>
              <Text size="sm" c="dimmed">
                {searched === "" ? words.counts(notes, turns) : words.found(entries.length)}
              </Text>
              {entries.length === 0 && <NoEntries isSearch={searched !== ""} />}
              <Stack gap="sm">
                {entries.map((entry) => (
                  <Entry key={entry.id} agent={agent} entry={entry} />
                ))}
              </Stack>
              {query.hasNextPage && (
                <Group justify="center">
                  <Button
                    variant="default"
                    loading={query.isFetchingNextPage}
                    onClick={() => void query.fetchNextPage()}
                  >
                    {moreRows}
                  </Button>
                </Group>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function NoEntries({ isSearch }: { isSearch: boolean }): ReactNode {
  const words = useMemoryWords();
  return isSearch ? (
    <Empty icon={IconSearch} title={words.none}>
      {words.noneYet}
    </Empty>
  ) : (
    <Empty icon={IconBrain} title={words.noNotes}>
      {words.noNotesYet}
    </Empty>
  );
}
