import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Paired people and pending pairing requests. */
export const pairingsQuery = (client: Client) =>
  queryOptions({ queryKey: ["pairings"], queryFn: () => client.pairings(), refetchInterval: 5_000 });
