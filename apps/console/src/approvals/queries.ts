import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Requests for approval with their outcomes, newest first. */
export const approvalHistoryQuery = (client: Client) =>
  queryOptions({
    queryKey: ["approvals", "history"],
    queryFn: () => client.approvalHistory(),
    refetchInterval: 15_000,
  });

/** Pending approvals of all sessions. */
export const approvalsQuery = (client: Client) =>
  queryOptions({ queryKey: ["approvals"], queryFn: () => client.approvals(), refetchInterval: 4_000 });
