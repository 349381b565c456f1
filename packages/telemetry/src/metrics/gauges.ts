import { type ELDHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type * as Prometheus from "prom-client";

/** Values of the store at the time of a scrape. All nodes read the same ones, except those about the node itself. */
export interface StoreGauges {
  /** Unfinished messages by state. */
  readonly inbox: Readonly<Record<string, number>>;
  /** Replies that are not delivered, by state. */
  readonly outbox: Readonly<Record<string, number>>;
  /** Age of the oldest unfinished message, or 0. */
  readonly oldestMessageMs: number;
  /** Age of the oldest reply to be delivered, or 0. */
  readonly oldestReplyMs: number;
  readonly databaseBytes: number;
  readonly pendingApprovals: number;
  readonly pendingPairings: number;
  /** Nodes by state. */
  readonly nodes: Readonly<Record<string, number>>;
  /** Leases of this node by kind. */
  readonly seats: Readonly<Record<string, number>>;
  /** Number of times that this node stopped because another one had taken its lease. */
  readonly fencedWrites: number;
  readonly clockSkewMs: number;
  /** Duration of a small write. */
  readonly latencyMs: number;
  /** Number of different configurations of the nodes that are up. */
  readonly configurations: number;
}

/** Values at the time of a scrape. */
export interface Gauges {
  readonly runsActive: number;
  readonly messagesWaiting: number;
  readonly outboxSending: number;
  /** The accounts of this node. */
  readonly accounts: readonly {
    readonly channel: string;
    readonly account: string;
    readonly isUp: boolean;
  }[];
  /** Absent if the store could not be read. */
  readonly store: StoreGauges | undefined;
}

/** Resolution of the event loop's lag, in milliseconds. Each sample wakes the process. */
const LAG_RESOLUTION_MS = 50;
const NS_PER_S = 1e9;

/** Defines the gauges in a registry. Returns a function that sets them. */
export function createGauges(
  { Counter, Gauge }: typeof Prometheus,
  registry: Prometheus.Registry,
): (gauges: Gauges) => void {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const labeled = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers });

  const runsActive = gauge("signalbox_runs_active", "Runs in progress");
  const messagesWaiting = gauge("signalbox_messages_waiting", "Messages waiting for a run");
  const outboxSending = gauge("signalbox_outbox_sending", "Replies being sent");
  const accountUp = labeled("signalbox_account_up", HELP.accountUp, "channel", "account");
  const storeUp = gauge("signalbox_store_up", "1 if the database could be read, otherwise 0");
  const inbox = labeled("signalbox_inbox_messages", "Unfinished messages, by state", "state");
  const outbox = labeled("signalbox_outbox_replies", HELP.outbox, "state");
  const oldestMessage = gauge("signalbox_inbox_oldest_seconds", "Age of the oldest unfinished message");
  const oldestReply = gauge("signalbox_outbox_oldest_seconds", "Age of the oldest reply to be delivered");
  const databaseBytes = gauge("signalbox_database_bytes", "Size of the database");
  const approvals = gauge("signalbox_approvals_pending", "Tool calls that wait for approval");
  const pairings = gauge("signalbox_pairings_pending", "Pairing requests that wait for an owner");
  const nodes = labeled("signalbox_nodes", "Gateways that use the database, by state", "state");
  const seats = labeled("signalbox_seats", "Leases that this node holds, by kind", "kind");
  const fencedWrites = new Counter({
    name: "signalbox_fenced_writes_total",
    help: HELP.fencedWrites,
    registers,
  });
  const clockSkew = gauge("signalbox_clock_skew_seconds", "Clock of this node minus that of the database");
  const latency = gauge("signalbox_database_latency_seconds", "Duration of a small write to the database");
  const configurations = gauge("signalbox_configurations", HELP.configurations);
  const setLag = createLagGauges((name, help) => gauge(name, help));

  function setStore(values: StoreGauges): void {
    setEach(inbox, "state", values.inbox);
    setEach(outbox, "state", values.outbox);
    setEach(nodes, "state", values.nodes);
    setEach(seats, "kind", values.seats);
    oldestMessage.set(values.oldestMessageMs / 1000);
    oldestReply.set(values.oldestReplyMs / 1000);
    databaseBytes.set(values.databaseBytes);
    approvals.set(values.pendingApprovals);
    pairings.set(values.pendingPairings);
    // The store counts across restarts.
    fencedWrites.reset();
    fencedWrites.inc(values.fencedWrites);
    clockSkew.set(values.clockSkewMs / 1000);
    latency.set(values.latencyMs / 1000);
    configurations.set(values.configurations);
  }

  return ({ store, accounts, ...values }) => {
    runsActive.set(values.runsActive);
    messagesWaiting.set(values.messagesWaiting);
    outboxSending.set(values.outboxSending);
    accountUp.reset();
    for (const { channel, account, isUp } of accounts) accountUp.set({ channel, account }, isUp ? 1 : 0);
    storeUp.set(store === undefined ? 0 : 1);
    // Without the store, the last values stay.
    if (store !== undefined) setStore(store);
    setLag();
  };
}

const HELP = {
  accountUp: "1 if this node runs the channel account and it is connected, otherwise 0",
  outbox: "Replies that are not delivered, by state",
  fencedWrites: "Times that this node stopped because another node had taken its lease",
  configurations: "Number of different configurations of the nodes that are up; should be 1",
};

function setEach(gauge: Prometheus.Gauge, label: string, values: Readonly<Record<string, number>>): void {
  gauge.reset();
  for (const [name, value] of Object.entries(values)) gauge.set({ [label]: name }, value);
}

/** Measures the lag of the event loop between two scrapes. Starts with the first one. */
function createLagGauges(gauge: (name: string, help: string) => Prometheus.Gauge): () => void {
  const median = gauge(
    "signalbox_event_loop_lag_p50_seconds",
    "Median lag of the event loop since the last scrape",
  );
  const p99 = gauge("signalbox_event_loop_lag_p99_seconds", "99th percentile of the lag of the event loop");
  const max = gauge(
    "signalbox_event_loop_lag_max_seconds",
    "Longest lag of the event loop since the last scrape",
  );
  let lag: ELDHistogram | undefined;
  return () => {
    if (lag === undefined) {
      lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
      lag.enable();
      return;
    }
    // A sample contains the interval itself.
    const toLag = (ns: number): number => Math.max(0, ns / NS_PER_S - LAG_RESOLUTION_MS / 1000);
    median.set(toLag(lag.percentile(50)));
    p99.set(toLag(lag.percentile(99)));
    max.set(toLag(lag.max));
    lag.reset();
  };
}
