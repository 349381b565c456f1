import { reasonOf } from "@signalbox/agent-core";
import { type Auditor, openAudit } from "@signalbox/audit";
import {
  closeHome,
  type Home,
  lockHome,
  openDatabase,
  prepareHome,
  storeWithRedaction,
  takeLease,
} from "@signalbox/home";
import { type Lifecycle, tryAgain } from "@signalbox/lanes";
import type { HomeLock, Lease } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { GatewayOptions } from "../gateway-options.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { Instrument } from "./instrument.ts";

/** The home of a gateway, which nobody else has while it is open. */
export interface OpenHome {
  readonly lock: HomeLock;
  readonly store: GatewayStore;
  readonly lease: Lease;
  /** Puts decisions on record. */
  readonly audit: Auditor;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/**
 * Takes the home, opens its database, and takes its lease.
 * @throws GatewayError where another gateway has it, or it cannot be used
 */
export async function openHome(
  options: GatewayOptions,
  leaseMs: number,
  lifecycle: Lifecycle,
): Promise<OpenHome> {
  const { home, loaded, logger } = options;
  prepareHome(home);
  for (const open of closeHome(home)) logger.warn({ ...open }, "others could read a file of the home");
  const lock = lockHome(home);
  lifecycle.started("lock", () => lock.release());
  const { redact } = options.vault;
  const { inboxLimit } = loaded.config.gateway;
  const store = storeWithRedaction(await openStoreOf(home, inboxLimit, logger, options.instrument), redact);
  lifecycle.started("store", () => store.close());
  const lease = await tryAgain(() => takeLease(store, home, leaseMs));
  lifecycle.started("lease", () =>
    store.leases
      .release(lease)
      .catch((error: unknown) => logger.warn({ err: reasonOf(error) }, "the lease was not released")),
  );
  const audit = await openAudit({
    log: store.audit,
    notes: store.kv,
    headFile: home.auditHeadFile,
    redact,
    onProblem: (message, details) =>
      logger.error({ ...details, remedy: "`signalbox audit verify` says where a chain breaks" }, message),
    now: options.now ?? Date.now,
  });
  lifecycle.started("audit", () => audit.close());
  await tryAgain(() => audit.configuration(loaded.config, loaded.file));
  return { lock, store, lease, audit, redact };
}

async function openStoreOf(
  home: Home,
  inboxLimit: number,
  logger: Logger,
  instrument: Instrument | undefined,
): Promise<GatewayStore> {
  const store = await openDatabase<GatewayBodies>(home, {
    limits: { inbox: inboxLimit },
    logger: {
      info: (fields, message) => logger.info(fields, message),
      warn: (fields, message) => logger.warn(fields, message),
    },
    ...(instrument === undefined ? {} : { faults: instrument.storeFaults }),
  });
  return instrument?.store(store) ?? store;
}
