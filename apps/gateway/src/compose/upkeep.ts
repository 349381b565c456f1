import { type AccountLeases, createAccountLeases, createUpkeep, type Upkeep } from "@signalbox/home";
import { isOneOff } from "@signalbox/server";
import { createConsolidation } from "../agent/memories.ts";
import type { Parts } from "./surroundings.ts";
import type { Way } from "./way.ts";

/** The right to run an account, where several gateways have the same. */
export function leasesOfAccounts({ resolved: { accounts }, opened, leaseMs }: Parts): AccountLeases {
  return createAccountLeases({
    leases: opened.store.leases,
    holder: opened.lease.holder,
    leaseMs,
    isShared: (channel) => accounts.definitions.some(({ id }) => id === channel),
  });
}

/** What the gateway does from time to time. */
export function createGatewayUpkeep(
  { options, resolved, opened, surroundings, configuration: { config }, leaseMs, now }: Parts,
  way: Way,
  accountLeases: AccountLeases,
  onLost: (error: Error) => void,
): Upkeep {
  const { logger } = options;
  const { store, lease } = opened;
  return createUpkeep({
    store,
    lease,
    logger,
    now,
    async recover() {
      await way.recover();
      await surroundings.subAgents.recover();
      // Somebody may have been let in by the command line.
      await surroundings.delivery.pairingNotices.look();
    },
    leaseMs,
    renewAccounts: () => accountLeases.renew(),
    onLost,
    oneOffs: { channel: "api", isOneOff },
    retention: () => config().retention,
    consolidate: createConsolidation({
      memories: surroundings.memories,
      agents: resolved.agents,
      models: resolved.models,
      forUpkeep: (agentModel, agent) => surroundings.spending.forUpkeep(agentModel, agent),
      logger,
      now,
      enabled: () => config().memory.enabled && config().memory.consolidate,
    }),
    busy: () => way.lanes.counts().running > 0,
    pruneMedia: () => surroundings.media.prune(),
    wakeOutbox: () => surroundings.delivery.wake(),
  });
}
