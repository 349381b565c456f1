import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** State of the gateway and its channels. */
export const statusQuery = (client: Client) =>
  queryOptions({ queryKey: ["status"], queryFn: () => client.status(), refetchInterval: 5_000 });
