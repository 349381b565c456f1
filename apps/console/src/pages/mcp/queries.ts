import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const serversQuery = (client: Client) =>
  queryOptions({ queryKey: ["mcp"], queryFn: () => client.mcpServers(), refetchInterval: 5_000 });

/** The tools of a server. Never starts it. */
export const toolsQuery = (client: Client, server: string) =>
  queryOptions({ queryKey: ["mcp-tools", server], queryFn: () => client.mcpTools(server) });
