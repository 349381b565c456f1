import * as z from "zod/mini";

/** A gateway that uses the same store, in {@link ClusterState}. */
export const NodeInfo = z.object({
  id: z.string(),
  /** Name from `gateway.node`. */
  name: z.optional(z.string()),
  /** True for the gateway that responds. */
  self: z.boolean(),
  /** `up`: holds its lease. `stopped`: ended and released it. `lost`: ended or hangs, and its lease has expired. */
  state: z.enum(["up", "stopped", "lost"]),
  version: z.string(),
  labels: z.array(z.string()),
  startedAt: z.number(),
  /** Time of the last report. A gateway reports every few seconds if others share its store, otherwise every minute. */
  seenAt: z.number(),
  /** Digest of the configuration, without the settings that differ between nodes. */
  configuration: z.string(),
  /** Clock of the node minus the clock of the store, in milliseconds. */
  clockSkewMs: z.number(),
  /** Duration of a small write to the store, in milliseconds. */
  latencyMs: z.number(),
  /** Number of expired leases that the node took from other nodes. */
  takeovers: z.number(),
  /** Number of times that the node stopped because another one had taken its lease. */
  fencedWrites: z.number(),
});
export type NodeInfo = z.infer<typeof NodeInfo>;

/** A lease that decides which node does something. */
export const SeatInfo = z.object({
  kind: z.enum(["agent", "account", "maintenance"]),
  /** The agent, or the account as `channel/account`. Agents with overlapping workspaces share the seat of the first. */
  name: z.string(),
  /** Id of the node. */
  node: z.string(),
  since: z.number(),
  /** True if the node did not renew the lease in time. Another node then takes it. */
  expired: z.boolean(),
});
export type SeatInfo = z.infer<typeof SeatInfo>;

/** Response of `GET /api/nodes`. */
export const ClusterState = z.object({
  /** True if several gateways may use the store. Otherwise, this gateway runs everything and there are no seats. */
  shared: z.boolean(),
  nodes: z.array(NodeInfo),
  seats: z.array(SeatInfo),
  /** Time at which the oldest unfinished message was received. */
  oldestMessageAt: z.optional(z.number()),
  /** Time at which the oldest undelivered reply was created. */
  oldestReplyAt: z.optional(z.number()),
  /** Size of the database in bytes. */
  databaseBytes: z.number(),
});
export type ClusterState = z.infer<typeof ClusterState>;
