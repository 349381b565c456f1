import {
  acquireHomeLock,
  HomeHeldError,
  type HomeLock,
  type Lease,
  openStore,
  StoreNewerError,
} from "@signalbox/store";
import { type Auditor, openAudit } from "../audit/auditor.ts";
import type { Instrument } from "../compose/instrument.ts";
import type { Lifecycle } from "../compose/lifecycle.ts";
import { storeWithRedaction } from "../compose/redaction.ts";
import { tryAgain } from "../compose/try-again.ts";
import { EXIT, GatewayError, messageOf } from "../errors.ts";
import type { GatewayOptions } from "../gateway-options.ts";
import type { Logger } from "../log.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import { type Home, prepareHome } from "./home.ts";
import { closeHome } from "./home-files.ts";

/** The lease under which a gateway writes. */
export const LEASE_NAME = "gateway";

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
  const lock = takeHome(home);
  lifecycle.started("lock", () => lock.release());
  const { redact } = options.vault;
  const { inboxLimit } = loaded.config.gateway;
  const store = storeWithRedaction(await openHomeStore(home, inboxLimit, logger, options.instrument), redact);
  lifecycle.started("store", () => store.close());
  const lease = await takeLease(store, home, leaseMs);
  lifecycle.started("lease", () =>
    store.leases
      .release(lease)
      .catch((error: unknown) => logger.warn({ err: messageOf(error) }, "the lease was not released")),
  );
  const audit = await openAudit({ store, home, logger, redact, now: options.now ?? Date.now });
  lifecycle.started("audit", () => audit.close());
  await tryAgain(() => audit.configuration(loaded.config, loaded.file));
  return { lock, store, lease, audit, redact };
}

/** @throws GatewayError where another gateway holds it */
function takeHome(home: Home): HomeLock {
  try {
    return acquireHomeLock(home.dir);
  } catch (error) {
    if (!(error instanceof HomeHeldError)) throw error;
    throw new GatewayError(EXIT.held, error.message, { cause: error });
  }
}

/** @throws GatewayError where the database is newer, or cannot be opened */
async function openHomeStore(
  home: Home,
  inboxLimit: number,
  logger: Logger,
  instrument: Instrument | undefined,
): Promise<GatewayStore> {
  try {
    const store = await openStore<GatewayBodies>({
      path: home.databaseFile,
      limits: { inbox: inboxLimit },
      logger: { warn: (fields, message) => logger.warn(fields, message) },
      ...(instrument === undefined ? {} : { faults: instrument.storeFaults }),
    });
    return instrument?.store(store) ?? store;
  } catch (error) {
    if (error instanceof StoreNewerError)
      throw new GatewayError(EXIT.newerDatabase, error.message, { cause: error });
    throw new GatewayError(EXIT.cannotWrite, `${home.databaseFile}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Whoever holds the home's lock is the one holder of its lease, so a crash leaves nothing to wait for.
 * @throws GatewayError where another gateway holds it
 */
async function takeLease(store: GatewayStore, home: Home, leaseMs: number): Promise<Lease> {
  const lease = await tryAgain(() => store.leases.acquire(LEASE_NAME, `home ${home.dir}`, leaseMs));
  if (lease) return lease;
  throw new GatewayError(
    EXIT.held,
    `Another gateway works on the database ${home.databaseFile}. Stop it, or use another home.`,
  );
}
