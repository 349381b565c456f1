import type { Client } from "@signalbox/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

/** Entries of an agent's memory. */
export const memoryQuery = (client: Client, agent: string, query: string) =>
  queryOptions({
    queryKey: ["memory", agent, query],
    queryFn: () => client.searchMemory(agent, { query, limit: 50 }),
    enabled: agent !== "",
    placeholderData: keepPreviousData,
  });
