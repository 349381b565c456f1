import type { ClusterState, NodeInfo, SeatInfo } from "@signalbox/protocol";
import type { Lease, NodeState, StoreStats } from "@signalbox/store";
import type { GatewayContext } from "../context.ts";
import { getLeaseKind } from "../maintenance/node-reports.ts";

/** Prefix of the lease under which a node writes. */
const NODE_LEASE = "gateway ";

/** Returns the gateways that share the store, and what each of them runs. */
export async function readCluster(
  ctx: Pick<GatewayContext, "store" | "node" | "now">,
): Promise<ClusterState> {
  const { store, node, now } = ctx;
  const [nodes, leases, stats] = await Promise.all([
    store.nodes.list(),
    store.leases.list(),
    store.maintenance.stats(),
  ]);
  // Leases expire by the clock of the store.
  const skew = nodes.find(({ id }) => id === node)?.clockSkewMs ?? 0;
  return toClusterState({ nodes, leases, stats, self: node, isShared: store.isShared, at: now() - skew });
}

interface ClusterParts {
  readonly nodes: readonly NodeState[];
  readonly leases: readonly Lease[];
  readonly stats: Pick<StoreStats, "oldestInboxAt" | "oldestOutboxAt" | "databaseBytes">;
  /** Id of the gateway that responds. */
  readonly self: string;
  readonly isShared: boolean;
  /** Time of the store, in milliseconds. */
  readonly at: number;
}

function toClusterState({ nodes, leases, stats, self, isShared, at }: ClusterParts): ClusterState {
  const { oldestInboxAt, oldestOutboxAt, databaseBytes } = stats;
  return {
    shared: isShared,
    nodes: nodes.map((node) => toNodeInfo(node, leases, { self, at })),
    seats: isShared ? leases.flatMap((lease) => toSeatInfo(lease, at)) : [],
    ...(oldestInboxAt === undefined ? {} : { oldestMessageAt: oldestInboxAt }),
    ...(oldestOutboxAt === undefined ? {} : { oldestReplyAt: oldestOutboxAt }),
    databaseBytes,
  };
}

function toNodeInfo(
  { format: _, labels, ...node }: NodeState,
  leases: readonly Lease[],
  { self, at }: Pick<ClusterParts, "self" | "at">,
): NodeInfo {
  const lease = leases.find(({ name }) => name === `${NODE_LEASE}${node.id}`);
  const held = lease !== undefined && lease.expiresAt > at ? "up" : "lost";
  return {
    ...node,
    labels: [...labels],
    self: node.id === self,
    state: lease === undefined ? "stopped" : held,
  };
}

function toSeatInfo({ name, holder, acquiredAt, expiresAt }: Lease, at: number): SeatInfo[] {
  const kind = getLeaseKind(name);
  if (kind === undefined) return [];
  const subject = kind === "maintenance" ? name : name.slice(name.indexOf(" ") + 1);
  return [{ kind, name: subject, node: holder, since: acquiredAt, expired: expiresAt <= at }];
}
