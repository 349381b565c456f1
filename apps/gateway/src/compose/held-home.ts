import { createRedactor, environmentSecrets } from "@signalbox/redaction";
import type { HomeLock, Lease } from "@signalbox/store";
import { type Auditor, openAudit } from "../audit/auditor.ts";
import { messageOf } from "../errors.ts";
import type { GatewayOptions } from "../gateway-options.ts";
import { openHomeStore, takeHome, takeLease } from "../hold.ts";
import { prepareHome } from "../home.ts";
import type { Lifecycle } from "../lifecycle.ts";
import { storeWithRedaction } from "../redaction.ts";
import type { GatewayStore } from "../store.ts";

/** The home of a gateway, which nobody else has while it is held. */
export interface HeldHome {
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
export async function holdHome(
  options: GatewayOptions,
  leaseMs: number,
  lifecycle: Lifecycle,
): Promise<HeldHome> {
  const { home, loaded, token, logger, env } = options;
  prepareHome(home);
  const lock = takeHome(home);
  lifecycle.started("lock", () => lock.release());
  const redact = createRedactor([...loaded.secrets, token.value, ...environmentSecrets(env)]);
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
  await audit.configuration(loaded.config, loaded.file);
  return { lock, store, lease, audit, redact };
}
