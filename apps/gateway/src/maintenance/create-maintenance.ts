import { createMaintenance as createHomeMaintenance, type Maintenance } from "@signalbox/home";
import { isOneOff } from "@signalbox/server";
import { createConsolidation } from "../agent/memories.ts";
import type { GatewayContext } from "../context.ts";
import { recover } from "../pipeline/pipeline.ts";
import { createScheduledBackups } from "./scheduled-backups.ts";

/**
 * Creates the periodic maintenance of the gateway: renewing leases, taking over abandoned work, pruning, backups.
 *
 * @param onLost called if the home's lease is lost
 */
export function createMaintenance(ctx: GatewayContext, onLost: (error: Error) => void): Maintenance {
  const { store, lease, config, delivery, lanes, leaseMs, leaseTerm, logger, now } = ctx;
  const { heldLeases, maintenanceLease } = ctx;
  const backups = createScheduledBackups({
    home: ctx.options.home,
    settings: () => config.current().settings.backups,
    logger,
    now,
  });
  const maintenance = createHomeMaintenance({
    store,
    lease,
    logger,
    now,
    async recover() {
      if (ctx.sharedSeats === undefined) await recover(ctx);
      await ctx.subAgents.recover();
      // The command line may have approved a pairing.
      await delivery.pairingNotices.poll();
      // Other gateways may have given up replies.
      delivery.ownerNotices.poll();
    },
    leaseMs,
    leaseTerm,
    renewLeases: () => heldLeases.renew(),
    duty: maintenanceLease,
    onRenewal: (error) => (error === undefined ? ctx.storeHealth.works() : ctx.storeHealth.failed(error)),
    onLost,
    oneOffs: { channel: "api", isOneOff },
    retention: () => config.current().settings.retention,
    consolidate: createConsolidation(ctx, ctx.memories, ctx.spending),
    busy: () => lanes.counts().running > 0,
    pruneMedia: () => ctx.media.prune(),
    wakeOutbox: () => delivery.wake(),
  });
  return {
    ...maintenance,
    start() {
      maintenance.start();
      backups.start();
      ctx.updates.start();
    },
    rest() {
      backups.stop();
      ctx.updates.stop();
      maintenance.rest();
    },
  };
}
