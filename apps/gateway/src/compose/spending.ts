import { readIdentityLinks } from "@signalbox/routing";
import { budgetsOf, type LiveSetup } from "@signalbox/setup";
import type { GatewayOptions } from "../gateway-options.ts";
import { createSpending, type Spending, type SpendingPorts } from "../path/spending.ts";
import type { ResolvedConfig } from "../resolve/resolve-config.ts";
import type { OpenHome } from "./open-home.ts";

/** Keeps what agents cost within the budgets of the configuration, as it is at each call. */
export function createAgentSpending(
  { logger, now = Date.now }: GatewayOptions,
  configuration: LiveSetup<ResolvedConfig>,
  { store, lease }: Pick<OpenHome, "store" | "lease">,
  { approvals, metrics }: Pick<SpendingPorts, "approvals" | "metrics">,
): Spending {
  const { agents, models } = configuration.resolved;
  return createSpending({
    budgets: () => budgetsOf(configuration.config()),
    identities: configuration.derived(({ loaded }) => readIdentityLinks(loaded.config.session.identityLinks)),
    ledger: store.budgets.ledger(lease),
    agents,
    models,
    approvals,
    metrics,
    logger,
    now,
  });
}
