import { type OpenHome, openHome } from "@signalbox/home";
import type { Lifecycle } from "@signalbox/lanes";
import { prepareWorkspaces } from "../agent/workspaces.ts";
import { type Applied, createLiveSetup, type LiveSetup } from "../configure/live-setup.ts";
import type { ResolvedConfig } from "../configure/resolve-config.ts";
import type { GatewayOptions } from "../gateway-options.ts";
import type { GatewayBodies } from "../store.ts";

const LEASE_MS = 30_000;

/** The basis of a gateway: how it was started, its configuration, and its home, which it alone holds. */
export interface Base {
  readonly options: GatewayOptions;
  readonly configuration: LiveSetup<ResolvedConfig>;
  /** The setup that applies now. */
  readonly resolved: ResolvedConfig;
  readonly opened: OpenHome<GatewayBodies>;
  readonly leaseMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** @throws GatewayError where another gateway has the home, or it cannot be used */
export async function openBase(
  options: GatewayOptions,
  first: Applied<ResolvedConfig>,
  lifecycle: Lifecycle,
): Promise<Base> {
  const { home, loaded, logger, vault, instrument, leaseMs = LEASE_MS, now = Date.now } = options;
  const { redact } = vault;
  const opened = await openHome<GatewayBodies>(
    {
      home,
      loaded,
      leaseMs,
      redact,
      logger,
      now,
      faults: instrument?.storeFaults,
      instrument: instrument?.store,
    },
    lifecycle,
  );
  const configuration = createLiveSetup(first);
  const { resolved } = configuration;
  await prepareWorkspaces(options, resolved.agents);
  await resolved.skills.pinFirstSeen();
  return { options, configuration, resolved, opened, leaseMs, now };
}
