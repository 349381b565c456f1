import { type Home, hasDatabase, withDatabase } from "@signalbox/home";
import type { Lease, NodeState } from "@signalbox/store";
import type { Finding } from "./finding.ts";

/** Difference between the clocks of a node and of the database that is reported, in milliseconds. */
const MAX_SKEW_MS = 2_000;
/** Duration of a small write that is reported, in milliseconds. Leases are renewed every few seconds. */
const MAX_LATENCY_MS = 1_000;

/** Compares the gateways that share a store. Returns nothing if the store is not shared. */
export async function checkNodes(home: Home, now: () => number): Promise<Finding[]> {
  try {
    if (!(await hasDatabase(home))) return [];
    return await withDatabase(home, "read", async ({ isShared, nodes, leases }) =>
      isShared ? compareNodes(await nodes.list(), await leases.list(), now()) : [],
    );
  } catch {
    // Another check reports the state of the database.
    return [];
  }
}

/** Interval in which a living node reports again, in milliseconds, with some tolerance. */
const REPORT_MS = 10_000;

/** @param now time of this machine, in milliseconds. Its clock may be wrong. */
export function compareNodes(nodes: readonly NodeState[], leases: readonly Lease[], now: number): Finding[] {
  // Leases expire by the clock of the store, which is at least at the time of the last report.
  const at = Math.min(now, Math.max(...nodes.map(({ seenAt }) => seenAt)) + REPORT_MS);
  const leaseOf = ({ id }: NodeState) => leases.find(({ name }) => name === `gateway ${id}`);
  const up = nodes.filter((node) => (leaseOf(node)?.expiresAt ?? 0) > at);
  const lost = nodes.filter((node) => {
    const lease = leaseOf(node);
    return lease !== undefined && lease.expiresAt <= at;
  });
  const summary: Finding = {
    part: "nodes",
    state: "ok",
    detail: up.length === 0 ? "none is running" : up.map((node) => describe(node, leases)).join("; "),
  };
  return [
    summary,
    ...lost.map(
      (node): Finding => ({
        part: `node ${nameOf(node)}`,
        state: "warning",
        detail: `did not renew its lease; last seen ${new Date(node.seenAt).toISOString()}`,
        remedy:
          "Start it again. Others run its agents in the meantime. A stopped node disappears after 30 days.",
      }),
    ),
    ...up.flatMap(checkNode),
    ...compare(up, "configuration", ({ configuration }) => configuration, {
      detail: "the nodes have different configurations",
      remedy:
        "Give all of them the same `signalbox.yaml`; only `gateway.node`, `labels`, `host` and `port` may differ.",
    }),
    ...compare(up, "version", ({ version }) => version, {
      detail: "the nodes have different versions",
      remedy: "Finish the upgrade. New features may work only when all nodes have the new version.",
    }),
  ];
}

function checkNode(node: NodeState): Finding[] {
  const { clockSkewMs, latencyMs } = node;
  const part = `node ${nameOf(node)}`;
  const slow: Finding = {
    part,
    state: "warning",
    detail: `a small write to the database took ${latencyMs} ms`,
    remedy:
      "Check the network and the load of the database. A node that cannot renew its leases in time loses them.",
  };
  const skewed: Finding = {
    part,
    state: "warning",
    detail: `its clock differs from the database's by ${clockSkewMs} ms`,
    remedy: "Synchronize the clocks with NTP.",
  };
  return [
    ...(latencyMs > MAX_LATENCY_MS ? [slow] : []),
    ...(Math.abs(clockSkewMs) > MAX_SKEW_MS ? [skewed] : []),
  ];
}

/** Reports a value that differs between nodes. */
function compare(
  nodes: readonly NodeState[],
  part: string,
  read: (node: NodeState) => string,
  { detail, remedy }: { readonly detail: string; readonly remedy: string },
): Finding[] {
  if (new Set(nodes.map(read)).size <= 1) return [];
  const values = nodes.map((node) => `${nameOf(node)} ${read(node)}`).join(", ");
  return [{ part: `nodes: ${part}`, state: "warning", detail: `${detail}: ${values}`, remedy }];
}

function describe(node: NodeState, leases: readonly Lease[]): string {
  const seats = leases.filter(({ name, holder }) => holder === node.id && name.startsWith("seat "));
  const agents = seats.map(({ name }) => name.slice("seat ".length));
  const events = `${node.takeovers} takeovers, ${node.fencedWrites} times fenced`;
  return `${nameOf(node)} (${node.version}) runs ${agents.join(", ") || "no agent"}, ${events}`;
}

const nameOf = ({ name, id }: NodeState): string => name ?? id;
