import type { Client, Language } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

const MINUTE_MS = 60_000;

/** Chat commands of an agent. */
export const commandsQuery = (client: Client, agent: string, language: Language) =>
  queryOptions({
    queryKey: ["commands", agent, language],
    queryFn: () => client.commands(agent, language),
    staleTime: MINUTE_MS,
  });

/** Models that can be chosen. */
export const modelsQuery = (client: Client) =>
  queryOptions({ queryKey: ["models"], queryFn: () => client.models(), staleTime: MINUTE_MS });
