import type { Client, Language } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const healthQuery = (client: Client, language: Language) =>
  queryOptions({
    queryKey: ["health", language],
    queryFn: () => client.health(language),
    refetchInterval: 30_000,
  });

/** Checks the accounts at their platforms. Runs only on request. */
export const checksQuery = (client: Client) =>
  queryOptions({ queryKey: ["checks"], queryFn: () => client.checks(), enabled: false });
