import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const healthQuery = (client: Client) =>
  queryOptions({ queryKey: ["health"], queryFn: () => client.health(), refetchInterval: 30_000 });

/** Checks the accounts at their platforms. Runs only on request. */
export const checksQuery = (client: Client) =>
  queryOptions({ queryKey: ["checks"], queryFn: () => client.checks(), enabled: false });
