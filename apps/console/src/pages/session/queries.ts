import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Messages of one session of any channel. */
export const transcriptQuery = (client: Client, session: string) =>
  queryOptions({
    queryKey: ["transcript", session],
    queryFn: () => client.transcript(session),
    refetchInterval: 4_000,
  });
