import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const configurationQuery = (client: Client) =>
  queryOptions({
    queryKey: ["configuration"],
    queryFn: () => client.configuration(),
    // A refresh must not replace the text during an edit.
    refetchOnWindowFocus: false,
  });

export const schemaQuery = (client: Client) =>
  queryOptions({
    queryKey: ["configuration-schema"],
    queryFn: () => client.configurationSchema(),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const historyQuery = (client: Client) =>
  queryOptions({ queryKey: ["configuration-history"], queryFn: () => client.configurationHistory() });

export const versionQuery = (client: Client, id: string) =>
  queryOptions({ queryKey: ["configuration-version", id], queryFn: () => client.configurationVersion(id) });
