import { createDrafts, createTyping, type Drafts, type Typing } from "@signalbox/delivery";
import { createSupervisor, type Supervisor } from "@signalbox/lanes";
import { createRouter, type Router } from "@signalbox/routing";
import { createLiveHub, createOutcomes, type LiveHub, type Outcomes } from "@signalbox/server";
import { createMetrics, createTracer, type Metrics } from "@signalbox/telemetry";
import { expireApprovals, openFileLabels } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import type { GatewayOptions } from "../gateway-options.ts";
import type { OpenHome } from "../home/open-home.ts";
import { countingHooks, OWN_HOOKS } from "../hooks/own.ts";
import type { GatewayHooks } from "../hooks/points.ts";
import { createGatewayHooks } from "../hooks/registry.ts";
import { routingConfig } from "../path/2-admit/route.ts";
import { judgeFailure, storeErrorIn } from "../path/failures.ts";
import type { Accounts } from "../resolve/accounts.ts";
import type { ResolvedConfig } from "../resolve/resolve-config.ts";
import { createLabelStore } from "../tools/label-store.ts";
import { createMessageSender } from "../tools/message-sender.ts";
import { createToolbox, type Toolbox } from "../tools/toolbox.ts";
import type { Tracer } from "../traces.ts";
import { VERSION } from "../version.ts";
import { createReplyDelivery } from "./delivery.ts";
import { createMedia, type Media } from "./media.ts";
import { hooksWithRedaction, liveWithRedaction, redactedOutcome } from "./redaction.ts";

/** What the stages of a message's way work with. */
export interface Surroundings {
  readonly live: LiveHub;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly hooks: GatewayHooks;
  readonly outcomes: Outcomes;
  /** Tells those who wait how a message ended, without secrets. */
  readonly onOutcome: Outcomes["settle"];
  readonly router: Router;
  readonly account: Accounts["get"];
  readonly media: Media;
  readonly delivery: ReturnType<typeof createReplyDelivery>;
  readonly typing: Typing;
  readonly drafts: Drafts;
  readonly toolbox: Toolbox;
  readonly supervisor: Supervisor;
}

/** Builds everything around the way of a message, from the configuration and the home that is held. Nothing runs yet. */
export async function createSurroundings(
  options: GatewayOptions,
  resolved: ResolvedConfig,
  held: OpenHome,
  onFatal: (error: Error) => void,
): Promise<Surroundings> {
  const { home, loaded, logger } = options;
  const { store, lease, redact } = held;
  const { config } = loaded;
  const { agents, skills, accounts, fetch } = resolved;
  const now = options.now ?? Date.now;

  const live = liveWithRedaction(
    createLiveHub((error) => logger.error({ err: messageOf(error) }, "a viewer failed")),
    redact,
  );
  const tracer: Tracer = createTracer(store.traces, (error) =>
    logger.warn({ err: messageOf(error) }, "a trace could not be written"),
  );
  const metrics = createMetrics({ version: VERSION });
  const hooks = createGatewayHooks(hooksWithRedaction(options.hooks ?? [], redact), logger, [
    ...OWN_HOOKS,
    ...countingHooks(metrics),
  ]);
  const outcomes = createOutcomes();
  const onOutcome: Outcomes["settle"] = (id, outcome) =>
    outcomes.settle(id, redactedOutcome(outcome, redact));
  const router = createRouter(routingConfig(config, agents), {
    cache: store.routes,
    onCacheError: (error) => logger.warn({ err: messageOf(error) }, "the route cache failed"),
  });
  const { instrument } = options;
  const account: Accounts["get"] = (channel, name) => {
    const found = accounts.get(channel, name);
    return found && (instrument?.account(found) ?? found);
  };
  const labels = await openFileLabels(createLabelStore(store.kv));
  const media = createMedia({ config, home, labels, store, agents, fetch, account, logger, now });
  const delivery = createReplyDelivery({
    ...{ config, store, lease, accounts, account, hooks, tracer, metrics, logger, now },
    openMedia: media.out.open,
  });
  const { stream, typing: signs } = config.replies;
  const typing = createTyping({ account, on: signs, logger });
  const drafts = createDrafts({
    ...{ account, stream, timing: options.drafts, logger },
    notes: store.kv,
    hasOpen: store.outbox.hasOpen,
    // Code at `before_reply` may still change or keep back what would be shown.
    mayShow: () => !hooks.has("before_reply"),
  });
  const sender = createMessageSender({
    ...{ store, lease, account, deliverer: delivery, live, redact, now },
    definition: accounts.definition,
    mediaOut: media.out,
  });
  const { definition } = accounts;
  const questions = { store, lease, definition, deliverer: delivery, live, logger, now };
  await expireApprovals(store.approvals);
  const tools = createToolbox({
    config,
    home,
    labels,
    agents,
    skills,
    sender,
    fetch,
    tracer,
    hooks,
    audit: held.audit,
    questions,
    now,
  });
  const toolbox = instrument?.toolbox(tools) ?? tools;
  const supervisor = createSupervisor({
    judge: judgeFailure,
    onRetry: (task, error, delayMs) =>
      logger.error({ task, err: messageOf(error), delayMs }, "work failed; it is tried again"),
    onGiveUp: (task, error) => logger.error({ task, err: messageOf(error) }, "work failed for good"),
    onFatal: (error) => onFatal(storeErrorIn(error) ?? new Error(messageOf(error))),
  });
  return {
    ...{ live, tracer, metrics, hooks, outcomes, onOutcome, router, account, media, delivery },
    ...{ typing, drafts, toolbox, supervisor },
  };
}
