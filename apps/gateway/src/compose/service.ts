import { randomBytes } from "node:crypto";
import type { Upkeep } from "@signalbox/home";
import { READING } from "@signalbox/prompt";
import type { GatewayService } from "@signalbox/server";
import { createService } from "../api/create-service.ts";
import { budgetsOf } from "../configure/budgets.ts";
import type { Reloading } from "../configure/reload.ts";
import type { ResolvedConfig } from "../configure/resolve-config.ts";
import { explainRoute } from "../configure/routing.ts";
import { createScheduleDesk } from "../triggers/schedule-desk.ts";
import { VERSION } from "../version.ts";
import type { Parts } from "./surroundings.ts";
import type { Way } from "./way.ts";

interface ServicePorts {
  readonly upkeep: Upkeep;
  readonly reloading: Pick<Reloading<ResolvedConfig>, "state">;
  readonly ready: () => boolean;
}

/** What clients of the gateway may ask it. */
export function createGatewayService(
  { resolved, opened, surroundings, configuration, now }: Parts,
  { lanes }: Way,
  { upkeep, reloading, ready }: ServicePorts,
): GatewayService {
  const { agents, models, accounts, surfaces, clientFiles } = resolved;
  const { store, lease, redact, audit } = opened;
  const { exchanges, userQuestions, live, outcomes, metrics, router } = surroundings;
  const { delivery, toolbox, trust, scheduledWakes, subAgents } = surroundings;
  return createService({
    version: VERSION,
    reading: READING,
    explainRoute: (event) => explainRoute(router, event),
    configuration: () => reloading.state,
    store,
    lease,
    upkeep,
    lanes,
    subAgents,
    exchanges,
    userQuestions,
    live,
    outcomes,
    metrics,
    redact,
    ready,
    now,
    startedAt: now(),
    agents,
    models,
    accounts,
    surfaces,
    ...clientFiles,
    approvals: toolbox.approvals,
    commands: () => toolbox.commands(),
    endCommands: (key) => toolbox.endCommands(key),
    endSchedules: (key) => scheduledWakes.endOf(key),
    budgets: () => budgetsOf(configuration.config()),
    trust,
    audit,
    schedules: createScheduleDesk({
      scheduledWakes,
      store,
      agents,
      now,
      newId: () => randomBytes(4).toString("hex"),
    }),
    outboxInFlight: () => delivery.inFlight(),
    wakeOutbox: () => delivery.wake(),
    onPaired: () => void delivery.pairingNotices.look(),
  });
}
