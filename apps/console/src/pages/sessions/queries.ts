import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Sessions of all channels. */
export const sessionsQuery = (client: Client) =>
  queryOptions({ queryKey: ["sessions"], queryFn: () => client.sessions(), refetchInterval: 5_000 });
