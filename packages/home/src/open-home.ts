import { reasonOf } from "@signalbox/agent-core";
import type { LoadedConfig } from "@signalbox/config";
import { type Lifecycle, retry } from "@signalbox/lanes";
import type { Redact } from "@signalbox/redaction";
import type { AnyStore, HomeLock, Lease, StoreOptions } from "@signalbox/store";
import { type Auditor, openAudit } from "@signalbox/store/audit";
import { lockHome, openDatabase, takeLease } from "./database.ts";
import { prepareHome } from "./folders.ts";
import type { Home } from "./layout.ts";
import { createLeaseTerm, type LeaseTerm } from "./lease-term.ts";
import type { HomeLogger } from "./logger.ts";
import { getNodeId } from "./node.ts";
import { restrictHome } from "./permissions.ts";
import { type AskingBodies, storeWithRedaction } from "./redacted-store.ts";

export interface OpenHomeOptions<T extends AskingBodies> {
  readonly home: Home;
  /** The configuration, which is recorded in the audit log. */
  readonly loaded: LoadedConfig;
  /** Duration of the lease, in milliseconds. Default: 5,000 if other gateways share the store, and 30,000 otherwise. */
  readonly leaseMs?: number | undefined;
  /** Removes secrets from a text. */
  readonly redact: Redact;
  readonly logger: HomeLogger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Fault injection of the store, see `StoreOptions`. */
  readonly faults?: StoreOptions["faults"] | undefined;
  /** Wraps the store, to measure or disturb it in tests. */
  readonly instrument?: ((store: AnyStore<T>) => AnyStore<T>) | undefined;
}

/** Default durations of leases, in milliseconds. Another gateway can take over only after the lease has expired. */
const LEASE_MS = 30_000;
const SHARED_LEASE_MS = 5_000;

/** The open home of a gateway. No other gateway can use it at the same time. */
export interface OpenHome<T extends AskingBodies> {
  readonly lock: HomeLock;
  readonly store: AnyStore<T>;
  /** The id of this gateway among those that share the store. It is also the holder of the gateway's leases. */
  readonly node: string;
  readonly lease: Lease;
  /** Duration of the lease, in milliseconds. */
  readonly leaseMs: number;
  readonly leaseTerm: LeaseTerm;
  /** Records decisions in the audit log. */
  readonly audit: Auditor;
  readonly redact: Redact;
}

/**
 * Locks the home, opens its database, acquires its lease, and records the configuration in the audit log.
 *
 * @throws GatewayError if another gateway holds it, or if it cannot be used
 */
export async function openHome<T extends AskingBodies>(
  options: OpenHomeOptions<T>,
  lifecycle: Lifecycle,
): Promise<OpenHome<T>> {
  const { home, loaded, redact, logger, now } = options;
  prepareHome(home);
  for (const open of restrictHome(home)) logger.warn({ ...open }, "other users could read files in the home");
  const lock = lockHome(home);
  lifecycle.started("lock", () => lock.release());
  const node = getNodeId(home);
  const store = storeWithRedaction(await openStoreOf(options), redact);
  lifecycle.started("store", () => store.close());
  const leaseMs = options.leaseMs ?? (store.isShared ? SHARED_LEASE_MS : LEASE_MS);
  const leaseTerm = createLeaseTerm(leaseMs);
  const lease = await retry(async () => {
    const succeed = leaseTerm.begin();
    const taken = await takeLease(store, node, leaseMs);
    succeed();
    return taken;
  });
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
      logger.error(
        { ...details, remedy: "run `signalbox audit verify` to see where the chain breaks" },
        message,
      ),
    now,
  });
  lifecycle.started("audit", () => audit.close());
  await retry(() => audit.configuration(loaded.config, loaded.file));
  return { lock, store, node, lease, leaseMs, leaseTerm, audit, redact };
}

async function openStoreOf<T extends AskingBodies>({
  home,
  loaded,
  logger,
  faults,
  instrument,
}: OpenHomeOptions<T>): Promise<AnyStore<T>> {
  const store = await openDatabase<T>(home, loaded.config.store, {
    limits: { inbox: loaded.config.gateway.inboxLimit },
    logger: {
      info: (fields, message) => logger.info(fields, message),
      warn: (fields, message) => logger.warn(fields, message),
    },
    faults,
  });
  return instrument?.(store) ?? store;
}
