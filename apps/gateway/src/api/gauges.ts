import { reasonOf } from "@signalbox/agent-core";
import type { Gauges, StoreGauges } from "@signalbox/telemetry";
import type { GatewayContext } from "../context.ts";
import { readCluster } from "./cluster.ts";

/** Maximum number of pending approvals that are counted. */
const MAX_APPROVALS = 10_000;

/** Returns the values of a scrape. If the store cannot be read, those of the store are missing. */
export async function readGauges(ctx: GatewayContext): Promise<Gauges> {
  const { lanes, delivery, accounts, logger } = ctx;
  const { running, waiting } = lanes.counts();
  const read = await readStoreGauges(ctx).catch((error: unknown) => {
    logger.debug({ err: reasonOf(error) }, "the metrics of the store could not be read");
    return undefined;
  });
  return {
    runsActive: running,
    messagesWaiting: waiting,
    outboxSending: delivery.inFlight(),
    accounts: accounts
      .list()
      .filter(({ channel, account }) => read?.elsewhere.has(`${channel}/${account}`) !== true)
      .map(({ channel, account, state }) => ({ channel, account, isUp: state === "ready" })),
    store: read?.gauges,
  };
}

/** Values of the store, and the accounts that other nodes run. */
interface StoreReading {
  readonly gauges: StoreGauges;
  /** As `channel/account`. */
  readonly elsewhere: ReadonlySet<string>;
}

async function readStoreGauges(ctx: GatewayContext): Promise<StoreReading> {
  const { store, node, now } = ctx;
  const [cluster, stats, approvals, pairings] = await Promise.all([
    readCluster(ctx),
    store.maintenance.stats(),
    store.approvals.list({ states: ["pending"], limit: MAX_APPROVALS }),
    store.pairing.pending(),
  ]);
  const self = cluster.nodes.find(({ id }) => id === node);
  const digests = new Set(
    cluster.nodes.flatMap(({ state, configuration }) => (state === "up" ? configuration : [])),
  );
  const at = now() - (self?.clockSkewMs ?? 0);
  const ageOf = (since: number | undefined): number => (since === undefined ? 0 : Math.max(0, at - since));
  const held = cluster.seats.filter(({ expired }) => !expired);
  const gauges: StoreGauges = {
    inbox: stats.inbox,
    outbox: stats.outbox,
    oldestMessageMs: ageOf(stats.oldestInboxAt),
    oldestReplyMs: ageOf(stats.oldestOutboxAt),
    databaseBytes: stats.databaseBytes,
    pendingApprovals: approvals.length,
    pendingPairings: pairings.length,
    nodes: countBy(cluster.nodes, ({ state }) => state),
    seats: countBy(
      held.filter((seat) => seat.node === node),
      ({ kind }) => kind,
    ),
    fencedWrites: self?.fencedWrites ?? 0,
    clockSkewMs: self?.clockSkewMs ?? 0,
    latencyMs: self?.latencyMs ?? 0,
    configurations: digests.size,
  };
  const elsewhere = held.filter((seat) => seat.kind === "account" && seat.node !== node);
  return { gauges, elsewhere: new Set(elsewhere.map(({ name }) => name)) };
}

function countBy<T>(items: readonly T[], kindOf: (item: T) => string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[kindOf(item)] = (counts[kindOf(item)] ?? 0) + 1;
  return counts;
}
