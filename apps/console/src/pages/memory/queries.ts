import type { Client } from "@signalbox/client";
import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";

/** Number of entries of one page. */
const PAGE_SIZE = 50;

/** Notes of an agent, newest first, or the entries that match a search. Only notes have several pages. */
export const memoryQuery = (client: Client, agent: string, query: string) =>
  infiniteQueryOptions({
    queryKey: ["memory", agent, query],
    queryFn: ({ pageParam }) => client.searchMemory(agent, { query, limit: PAGE_SIZE, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ notes, entries }, _, offset) =>
      query === "" && entries.length > 0 && offset + entries.length < notes
        ? offset + entries.length
        : undefined,
    enabled: agent !== "",
    placeholderData: keepPreviousData,
  });
