import { reasonOf } from "@signalbox/agent-core";
import {
  createLiveHub,
  createOutcomes,
  type LiveHub,
  type Outcomes,
  redactLiveErrors,
  redactOutcome,
} from "@signalbox/server";
import { createMetrics, createTracer, type Metrics } from "@signalbox/telemetry";
import type { SpendingReports } from "../agent/spending-reports.ts";
import type { GatewayHooks } from "../hooks/hook-points.ts";
import { countingHooks, OWN_HOOKS } from "../hooks/own-hooks.ts";
import { createGatewayHooks } from "../hooks/registry.ts";
import type { Tracer } from "../traces.ts";
import type { Delegation } from "../triggers/delegation.ts";
import { VERSION } from "../version.ts";
import type { Base } from "./base.ts";

/** Everyone who is told what happens, without secrets. */
export interface Observers {
  readonly live: LiveHub;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly hooks: GatewayHooks;
  readonly outcomes: Outcomes;
  /** What is told of spending. */
  readonly spendingReports: SpendingReports;
  /** Tells those who wait how a message ended. */
  readonly onOutcome: Outcomes["settle"];
}

export function createObservers(
  { options, resolved: { pointHooks }, opened, now }: Base,
  subAgents: Pick<Delegation, "ended">,
): Observers {
  const { logger, hooks = [] } = options;
  const { store, lease, redact } = opened;
  const onViewerError = (error: unknown): void => logger.error({ err: reasonOf(error) }, "a viewer failed");
  const onTraceError = (error: unknown): void =>
    logger.warn({ err: reasonOf(error) }, "a trace could not be written");
  const metrics = createMetrics({ version: VERSION });
  const own = [...OWN_HOOKS, ...countingHooks(metrics)];
  const outcomes = createOutcomes();
  return {
    live: redactLiveErrors(createLiveHub(onViewerError), redact),
    tracer: createTracer(store.traces, onTraceError),
    metrics,
    hooks: createGatewayHooks({ own, hooks, configured: () => pointHooks.hooks, redact, logger }),
    outcomes,
    spendingReports: {
      ledger: store.budgets.ledger(lease),
      onNotice: (budget, kind) => metrics.budgetNews(budget, kind),
      logger,
      now,
    },
    onOutcome(id, outcome) {
      outcomes.settle(id, redactOutcome(outcome, redact));
      subAgents.ended(id);
    },
  };
}
