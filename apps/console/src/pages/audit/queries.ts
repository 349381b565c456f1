import type { AuditKind, Client } from "@signalbox/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

/** The audit log, newest first. */
export const auditQuery = (client: Client, kind: AuditKind | undefined) =>
  infiniteQueryOptions({
    queryKey: ["audit", kind],
    queryFn: ({ pageParam }) => client.audit({ kind, before: pageParam }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next,
  });

/** Checks the whole chain. Runs only on request. */
export const verdictQuery = (client: Client) =>
  queryOptions({ queryKey: ["audit-verdict"], queryFn: () => client.verifyAudit(), enabled: false });
