import type { Client } from "@signalbox/client";
import { infiniteQueryOptions } from "@tanstack/react-query";

/** Pages of the messages of one session of any channel, latest first. */
export const transcriptQuery = (client: Client, session: string) =>
  infiniteQueryOptions({
    queryKey: ["transcript", session],
    queryFn: ({ pageParam }) => client.transcript(session, pageParam),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ before }) => before,
    refetchInterval: 4_000,
  });
