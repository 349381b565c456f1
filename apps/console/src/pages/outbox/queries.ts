import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Replies that failed, or all replies that are not delivered. */
export const outboxQuery = (client: Client, all: boolean) =>
  queryOptions({ queryKey: ["outbox", all], queryFn: () => client.outbox({ all }), refetchInterval: 5_000 });
