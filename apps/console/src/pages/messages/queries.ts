import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Latest messages of all channels or of one session, polled often enough to watch them arrive. */
export const messagesQuery = (client: Client, session?: string) =>
  queryOptions({
    queryKey: ["messages", session],
    queryFn: () => client.latestMessages(session),
    refetchInterval: 3_000,
  });
