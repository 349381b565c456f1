import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Pending approvals of all sessions. */
export const approvalsQuery = (client: Client) =>
  queryOptions({ queryKey: ["approvals"], queryFn: () => client.approvals(), refetchInterval: 4_000 });
