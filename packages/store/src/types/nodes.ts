import type { Millis } from "./common.ts";

/** The state that a gateway reports about itself. */
export interface NodeReport {
  /** The holder of the gateway's leases. */
  readonly id: string;
  /** Name that the operator gave to the node. */
  readonly name?: string | undefined;
  /** Version of the program. */
  readonly version: string;
  readonly labels: readonly string[];
  /** Digest of the configuration. Nodes with the same configuration have the same digest. */
  readonly configuration: string;
  readonly startedAt: Millis;
  /** Clock of the node minus the clock of the store, in milliseconds, as of the previous report. */
  readonly clockSkewMs: number;
  /** Duration of the previous report, in milliseconds. */
  readonly latencyMs: number;
}

/** Events of a node that are counted across its restarts. */
export type NodeEvent = "takeovers" | "fencedWrites";

/** A gateway that uses the store. */
export interface NodeState extends NodeReport {
  readonly seenAt: Millis;
  /** The newest format of rows that the program reads. It leaves rows of a newer format to other nodes. */
  readonly format: number;
  /** Number of expired leases that the node took from other nodes. */
  readonly takeovers: number;
  /** Number of times that the node stopped, because a write was rejected with `fenced`. */
  readonly fencedWrites: number;
}

/** Stores the gateways that use the store. Nodes that were not seen for 30 days are pruned. */
export interface NodeStore {
  /** Records the state of a node. Returns the time of the store. */
  report(report: NodeReport): Promise<Millis>;
  /** Counts an event of a node that has reported. Needs no lease, because a fenced node has none. */
  count(id: string, event: NodeEvent): Promise<void>;
  /** Returns the nodes, sorted by id. */
  list(): Promise<readonly NodeState[]>;
}
