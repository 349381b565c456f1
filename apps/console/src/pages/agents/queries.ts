import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const agentsQuery = (client: Client) =>
  queryOptions({ queryKey: ["agents"], queryFn: () => client.agents() });
