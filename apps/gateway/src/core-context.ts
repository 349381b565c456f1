import { reasonOf } from "@signalbox/agent-core";
import type { Capabilities, ChannelDefinition } from "@signalbox/channel";
import {
  type Control,
  createControl,
  createHeldLeases,
  createMaintenanceLease,
  createSharedSeats,
  type HeldLeases,
  type Home,
  type MaintenanceLease,
  mayRunOn,
  type NodeLabels,
  type OpenHome,
  openHome,
  type Seats,
  type SharedSeats,
} from "@signalbox/home";
import { type Clock, type Lifecycle, retry, systemClock } from "@signalbox/lanes";
import { createOutcomes, type LiveHub, type LiveRelay, type Outcomes } from "@signalbox/server";
import type { PinStore } from "@signalbox/skills";
import type { ObjectStore } from "@signalbox/store";
import { createMetrics, createTracer, type Metrics } from "@signalbox/telemetry";
import type { Logger } from "@signalbox/telemetry/logger";
import type { Account } from "./configure/accounts.ts";
import { groupByWorkspace } from "./configure/agent-groups.ts";
import { type Applied, createLiveConfig, type LiveConfig } from "./configure/live-config.ts";
import { openObjects } from "./configure/objects.ts";
import type { ResolvedConfig } from "./configure/resolve-config.ts";
import { importSkillPins, openSkillPins } from "./configure/skill-pins.ts";
import { prepareWorkspaces } from "./configure/workspaces.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { BUILT_IN_HOOKS, countingHooks } from "./hooks/built-in-hooks.ts";
import type { GatewayHooks } from "./hooks/hook-points.ts";
import { createGatewayHooks } from "./hooks/registry.ts";
import { createLiveEvents } from "./live-events.ts";
import { createNodeReports, getLeaseKind, type NodeReports } from "./maintenance/node-reports.ts";
import { createReplyWindows, type ReplyWindows } from "./messages/reply-windows.ts";
import { createOtlpExport, type OtlpExport } from "./otlp-export.ts";
import { createPublicAddress, type PublicAddress } from "./public-address.ts";
import type { GatewayBodies } from "./store.ts";
import type { Tracer } from "./tracer.ts";
import { VERSION } from "./version.ts";

type OpenedHome = Pick<
  OpenHome<GatewayBodies>,
  "store" | "node" | "lease" | "leaseMs" | "leaseTerm" | "lock" | "audit" | "redact"
>;
type FixedParts = Pick<ResolvedConfig, "accounts" | "web" | "surfaces" | "clientFiles" | "isOwnChannel">;

/**
 * The members of the context that agents, tools and triggers are built from: options, configuration, store and
 * observers.
 */
export interface CoreContext extends OpenedHome, FixedParts {
  /** Files that gateways share. Absent if no other gateway shares the store: files are in the home. */
  readonly objects: ObjectStore | undefined;
  readonly options: GatewayOptions;
  readonly home: Home;
  readonly env: GatewayOptions["env"];
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly clock: Clock;
  readonly config: LiveConfig;
  readonly publicAddress: PublicAddress;
  /** Pushes events to viewers, without secrets. */
  readonly live: LiveHub;
  /** Shows runs to viewers on other nodes. Absent if no other gateway shares the store. */
  readonly liveRelay: LiveRelay | undefined;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly otlp: OtlpExport;
  readonly hooks: GatewayHooks;
  /** Wakes clients that wait for the outcome of a message. */
  readonly outcomes: Outcomes;
  readonly replyWindows: ReplyWindows;
  /** The leases that decide what this gateway does if several share the store. */
  readonly heldLeases: HeldLeases;
  /** Reports this gateway to the others that share the store. */
  readonly nodeReports: NodeReports;
  readonly maintenanceLease: MaintenanceLease;
  readonly seats: Seats;
  /** Absent if no other gateway shares the store. */
  readonly sharedSeats: SharedSeats | undefined;
  /** Requests to the nodes that run other agents. */
  readonly control: Control;
  /** The versions of skills that owners have approved. */
  readonly skillPins: PinStore;
  /** Returns a running account of a channel, if there is one. */
  getAccount(channel: string, account: string): Account | undefined;
  /** Returns the definition of a configured account's channel. */
  getChannel(channel: string, account: string): ChannelDefinition | undefined;
  /** Returns the capabilities of a configured account's channel. */
  getCapabilities(channel: string, account: string): Capabilities | undefined;
}

/**
 * Opens the home and everything that observes the gateway. Starts nothing.
 *
 * @throws GatewayError if another gateway holds the home, or if the home cannot be used
 */
export async function createCoreContext(
  options: GatewayOptions,
  first: Applied<ResolvedConfig>,
  lifecycle: Lifecycle,
): Promise<CoreContext> {
  const { home, loaded, logger, vault, instrument, now = Date.now } = options;
  const { accounts, web, surfaces, clientFiles, isOwnChannel } = first.resolved;
  const { store, node, lease, leaseMs, leaseTerm, lock, audit, redact } = await openHome<GatewayBodies>(
    {
      home,
      loaded,
      leaseMs: options.leaseMs,
      redact: vault.redact,
      logger,
      now,
      faults: instrument?.storeFaults,
      instrument: instrument?.store,
    },
    lifecycle,
  );
  const objects = await openObjects(store, loaded.config.store, logger);
  if (objects !== undefined) clientFiles.share(objects);
  const config = createLiveConfig(first);
  await prepareWorkspaces(options, config.current().agents);
  const metrics = createMetrics({ version: VERSION });
  const nodeReports = createNodeReports({ store, node, config, logger, now });
  await nodeReports.start();
  lifecycle.started("node reports", () => nodeReports.stop());
  const heldLeases = createHeldLeases({
    leases: store.leases,
    holder: node,
    leaseMs,
    onTakeover: (lease, from) => reportTakeover({ metrics, nodeReports, logger }, lease, from),
    now,
  });
  const maintenanceLease = createMaintenanceLease(heldLeases);
  lifecycle.started("maintenance lease", () =>
    maintenanceLease
      .release()
      .catch((error: unknown) => logger.warn({ err: reasonOf(error) }, "the lease was not released")),
  );
  const skillPins = openSkillPins(store.kv, home);
  const pinSkills = async (): Promise<void> => {
    await importSkillPins(store.kv, home);
    await config.current().skills.pinFirstSeen(skillPins);
  };
  await Promise.all([retry(() => maintenanceLease.acquire()), retry(pinSkills)]);
  const seats = openSeats({ config, store, node, heldLeases, maintenanceLease, logger });
  const liveEvents = createLiveEvents({ store, node, seats: seats.seats, redact, logger, now });
  lifecycle.started("live events", () => liveEvents.liveRelay?.stop());
  return {
    options,
    home,
    env: options.env,
    logger,
    now,
    clock: options.clock ?? { ...systemClock, now },
    config,
    leaseMs,
    leaseTerm,
    accounts,
    web,
    surfaces,
    clientFiles,
    isOwnChannel,
    objects,
    store,
    node,
    lease,
    lock,
    audit,
    redact,
    ...liveEvents,
    publicAddress: createPublicAddress(() => config.current().settings.gateway.publicUrl),
    tracer: createTracer(store.traces, (error) =>
      logger.warn({ err: reasonOf(error) }, "a trace could not be written"),
    ),
    metrics,
    otlp: createOtlpExport({ config, env: options.env, node, redact, logger }),
    hooks: createGatewayHooks({
      own: [...BUILT_IN_HOOKS, ...countingHooks(metrics)],
      hooks: options.hooks ?? [],
      configured: () => config.current().pointHooks.hooks,
      redact,
      logger,
    }),
    outcomes: createOutcomes(),
    replyWindows: createReplyWindows({
      kv: store.kv,
      getChannel: (channel, name) => accounts.definition(channel, name),
      logger,
      now,
    }),
    heldLeases,
    nodeReports,
    maintenanceLease,
    ...seats,
    control: createControl({
      kv: store.kv,
      hints: store.hints,
      now,
      onFailure: ({ agentId, sessionKey: session }, error) =>
        logger.warn({ agent: agentId, session, err: reasonOf(error) }, "a request of another node failed"),
    }),
    skillPins,
    getAccount(channel, name) {
      const account = accounts.get(channel, name);
      return account && (instrument?.account(account) ?? account);
    },
    getChannel: (channel, name) => accounts.definition(channel, name),
    getCapabilities: (channel, name) => accounts.definition(channel, name)?.capabilities,
  };
}

function reportTakeover(
  { metrics, nodeReports, logger }: Pick<CoreContext, "metrics" | "nodeReports" | "logger">,
  lease: string,
  from: string,
): void {
  logger.info({ lease, from }, "a lease was taken over from a node that did not renew it");
  const kind = getLeaseKind(lease);
  if (kind !== undefined) metrics.tookOver(kind);
  nodeReports.count("takeovers");
}

type SeatParts = Pick<
  CoreContext,
  "config" | "store" | "node" | "heldLeases" | "maintenanceLease" | "logger"
>;

/** Creates the seats of the agents: leases if other gateways share the store. */
function openSeats(parts: SeatParts): Pick<CoreContext, "seats" | "sharedSeats"> {
  const { config, store, node, heldLeases: held, maintenanceLease, logger } = parts;
  const labels = (): NodeLabels => {
    const { node: name, labels } = config.current().settings.gateway;
    return { name, labels };
  };
  const getSeat = (agentId: string, sessionKey?: string): string =>
    config.current().agents.at(agentId, sessionKey)?.shardId ?? agentId;
  if (store.isShared) {
    const groups = config.derived(({ agents }) => groupByWorkspace(agents.shards));
    const sharedSeats = createSharedSeats({
      node,
      leases: store.leases,
      held,
      kv: store.kv,
      labels,
      groups,
      getSeat,
      isKeeper: maintenanceLease.isHeld,
    });
    return { seats: sharedSeats, sharedSeats };
  }
  const isHere = (agentId: string): boolean =>
    mayRunOn(labels(), config.current().agents.get(agentId)?.nodes);
  for (const { id, nodes } of config.current().agents.all)
    if (!isHere(id))
      logger.warn(
        { agent: id, nodes, remedy: "add one of them to gateway.labels, or remove `nodes` from the agent" },
        "an agent is not run, because this gateway has none of its labels",
      );
  const holds = (seat: string): boolean => isHere(config.current().agents.getShard(seat)?.id ?? seat);
  return { seats: { isHere, getSeat, holds }, sharedSeats: undefined };
}
