import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Schedules and heartbeats with the outcome of their latest runs. */
export const schedulesQuery = (client: Client) =>
  queryOptions({ queryKey: ["schedules"], queryFn: () => client.schedules(), refetchInterval: 5_000 });
