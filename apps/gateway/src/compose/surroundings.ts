import {
  type BlockReplies,
  createBlockReplies,
  createDrafts,
  createTyping,
  type Drafts,
  type Typing,
} from "@signalbox/delivery";
import { createSupervisor, type Supervisor, systemClock, tryAgain } from "@signalbox/lanes";
import type { McpServers } from "@signalbox/mcp";
import type { Memories } from "@signalbox/memory/agents";
import { createRouter, type Router } from "@signalbox/routing";
import { createLiveHub, createOutcomes, isOneOff, type LiveHub, type Outcomes } from "@signalbox/server";
import { createExchanges, type Exchanges } from "@signalbox/service";
import { type Accounts, type LiveSetup, routingConfig } from "@signalbox/setup";
import { createAgentMemories } from "@signalbox/setup/memories";
import type { OutboxRow, RunId } from "@signalbox/store";
import { createMetrics, createTracer, type Metrics } from "@signalbox/telemetry";
import {
  createAgentWorkspaces,
  createLabelStore,
  createTrust,
  expireApprovals,
  type FileLabels,
  openFileLabels,
  type Trust,
} from "@signalbox/tools";
import {
  createCron,
  createDelegation,
  createHeartbeats,
  createScheduledWakes,
  createSessions,
  type Delegation,
  type Heartbeats,
  readChecklist,
  type ScheduledWakes,
} from "@signalbox/wakes";
import { messageOf } from "../errors.ts";
import type { GatewayOptions } from "../gateway-options.ts";
import { countingHooks, OWN_HOOKS } from "../hooks/own.ts";
import type { GatewayHooks } from "../hooks/points.ts";
import { createGatewayHooks } from "../hooks/registry.ts";
import { judgeFailure, storeErrorIn } from "../path/failures.ts";
import type { Spending } from "../path/spending.ts";
import type { ResolvedConfig } from "../resolve/resolve-config.ts";
import type { GatewayBodies } from "../store.ts";
import { openMcpServers } from "../tools/mcp-servers.ts";
import { createMoreTools } from "../tools/more-tools.ts";
import { createToolbox, type Toolbox } from "../tools/toolbox.ts";
import type { Tracer } from "../traces.ts";
import { VERSION } from "../version.ts";
import { createReplyDelivery } from "./delivery.ts";
import { createMedia, type Media } from "./media.ts";
import type { OpenHome } from "./open-home.ts";
import { hooksWithRedaction, liveWithRedaction, redactedOutcome, withRedaction } from "./redaction.ts";
import { createAgentSpending } from "./spending.ts";

/** What the stages of a message's way work with. */
export interface Surroundings {
  readonly live: LiveHub;
  readonly exchanges: Exchanges;
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
  readonly blocks: BlockReplies<RunId>;
  /** What agents remember beyond a conversation; not asked where that is turned off. */
  readonly memories: Memories;
  readonly trust: Trust;
  readonly toolbox: Toolbox;
  readonly spending: Spending;
  readonly mcp: McpServers;
  /** What agents are to do later, by themselves. */
  readonly scheduledWakes: ScheduledWakes;
  readonly heartbeats: Heartbeats;
  readonly subAgents: Delegation;
  readonly supervisor: Supervisor;
}

/** What a gateway is made of when the way of a message is put together. */
export interface Parts {
  readonly options: GatewayOptions;
  readonly resolved: ResolvedConfig;
  readonly opened: OpenHome;
  readonly surroundings: Surroundings;
  readonly configuration: LiveSetup<ResolvedConfig>;
}

/** Builds everything around the way of a message, from the configuration and the home that is open. Nothing runs yet. */
export async function createSurroundings(
  options: GatewayOptions,
  resolved: ResolvedConfig,
  opened: OpenHome,
  configuration: LiveSetup<ResolvedConfig>,
  onFatal: (error: Error) => void,
): Promise<Surroundings> {
  const observers = createObservers(options, resolved, opened);
  const outward = await createOutward(options, resolved, opened, configuration, observers);
  const { store } = opened;
  await tryAgain(() => expireApprovals(store.approvals));
  const { env, home, logger, now = Date.now } = options;
  const memories = createAgentMemories({
    config: configuration.config,
    home,
    env,
    store,
    isLeftOut: isOneOff,
    logger,
    now,
  });
  const mcp = openMcpServers(options.loaded.config, logger, now);
  const clock = { ...systemClock, now };
  const scheduledWakes = createScheduledWakes({ kv: store.kv, clock, logger });
  const heartbeats = createHeartbeats({
    agents: resolved.agents,
    store,
    clock,
    logger,
    readChecklist: (agent) => readChecklist(agent, { labels: outward.labels, logger }),
  });
  const toolbox = createTools(options, configuration, opened, {
    ...observers,
    ...outward,
    memories,
    mcp,
    scheduledWakes,
  });
  return {
    ...observers,
    ...outward,
    exchanges: createExchanges({
      store,
      definition: resolved.accounts.definition,
      redact: opened.redact,
      now,
    }),
    memories,
    mcp,
    scheduledWakes,
    heartbeats,
    toolbox,
    spending: createAgentSpending(options, configuration, opened, {
      approvals: toolbox.approvals,
      metrics: observers.metrics,
    }),
    router: configuration.derived((now) =>
      createRouter(routingConfig(now.loaded.config, now.resolved.agents), {
        cache: store.routes,
        onCacheError: (error) => logger.warn({ err: messageOf(error) }, "the route cache failed"),
      }),
    ),
    supervisor: createFailureSupervisor(logger, onFatal),
  };
}

/** Tries work again that a passing failure broke off. */
function createFailureSupervisor(
  logger: GatewayOptions["logger"],
  onFatal: (error: Error) => void,
): Supervisor {
  return createSupervisor({
    judge: judgeFailure,
    onRetry: (task, error, delayMs) =>
      logger.error({ task, err: messageOf(error), delayMs }, "work failed; it is tried again"),
    onGiveUp: (task, error) => logger.error({ task, err: messageOf(error) }, "work failed for good"),
    onFatal: (error) => onFatal(storeErrorIn(error) ?? new Error(messageOf(error))),
  });
}

type Observers = Pick<
  Surroundings,
  "live" | "tracer" | "metrics" | "hooks" | "outcomes" | "onOutcome" | "subAgents"
>;

/** Whoever is told what happens: without secrets. */
function createObservers(
  options: GatewayOptions,
  { pointHooks }: ResolvedConfig,
  { store, redact }: OpenHome,
): Observers {
  const { logger, hooks = [], now = Date.now } = options;
  const onViewerError = (error: unknown): void => logger.error({ err: messageOf(error) }, "a viewer failed");
  const onTraceError = (error: unknown): void =>
    logger.warn({ err: messageOf(error) }, "a trace could not be written");
  const metrics = createMetrics({ version: VERSION });
  const own = [...OWN_HOOKS, ...countingHooks(metrics)];
  const outcomes = createOutcomes();
  const subAgents = createDelegation({ store, logger, now });
  return {
    live: liveWithRedaction(createLiveHub(onViewerError), redact),
    tracer: createTracer(store.traces, onTraceError),
    metrics,
    hooks: createGatewayHooks(hooksWithRedaction(hooks, redact), logger, own, () =>
      pointHooks.hooks.map((hook) => withRedaction(hook, redact)),
    ),
    outcomes,
    subAgents,
    onOutcome(id, outcome) {
      outcomes.settle(id, redactedOutcome(outcome, redact));
      subAgents.ended(id);
    },
  };
}

type Outward = Pick<
  Surroundings,
  "account" | "media" | "delivery" | "typing" | "drafts" | "blocks" | "trust"
> & {
  readonly labels: FileLabels;
};

/** What leads from the gateway to the platforms and back. */
async function createOutward(
  options: GatewayOptions,
  { agents, accounts, web: { fetch } }: ResolvedConfig,
  { store, lease }: OpenHome,
  configuration: LiveSetup<ResolvedConfig>,
  { hooks, tracer, metrics }: Observers,
): Promise<Outward> {
  const { home, logger, instrument, now = Date.now } = options;
  const { config } = configuration;
  const account: Accounts["get"] = (channel, name) => {
    const running = accounts.get(channel, name);
    return running && (instrument?.account(running) ?? running);
  };
  const labels = await openFileLabels(createLabelStore(store.kv));
  const workspaces = createAgentWorkspaces({ forbidden: home.closed, labels });
  const trust = createTrust(labels, workspaces);
  const media = createMedia({ config, home, workspaces, store, agents, fetch, account, logger, now });
  const delivery = createReplyDelivery({
    store,
    lease,
    accounts,
    account,
    hooks,
    tracer,
    metrics,
    logger,
    now,
    owners: configuration.derived(({ loaded }) => loaded.config.access.owners),
    openMedia: media.out.open,
  });
  // Code at `before_reply` may still change or keep back what would be shown.
  const mayShow = (): boolean => !hooks.has("before_reply");
  return {
    account,
    labels,
    trust,
    media,
    delivery,
    typing: createTyping({ account, on: () => config().replies.typing, logger }),
    drafts: createDrafts({
      account,
      stream: () => config().replies.stream,
      timing: options.drafts,
      logger,
      notes: store.kv,
      hasOpen: store.outbox.hasOpen,
      mayShow,
    }),
    blocks: createBlockReplies<OutboxRow<GatewayBodies>, RunId>({
      account,
      when: () => config().replies.blocks.when,
      rules: () => config().replies.blocks,
      mayShow,
      logger,
      notes: store.kv,
      capabilities: (channel, name) => accounts.definition(channel, name)?.capabilities,
      enqueue: (runId, row) => store.outbox.enqueue([row], { lease, runId }),
      deliver: delivery.deliver,
    }),
  };
}

/** What agents can do. */
function createTools(
  options: GatewayOptions,
  { config, resolved: { agents, skills, plugins, accounts, web } }: LiveSetup<ResolvedConfig>,
  { store, lease, redact, audit }: OpenHome,
  {
    live,
    tracer,
    hooks,
    account,
    labels,
    media,
    delivery,
    memories,
    mcp,
    scheduledWakes,
    subAgents,
  }: Observers & Outward & Pick<Surroundings, "memories" | "mcp" | "scheduledWakes">,
): Toolbox {
  const { home, logger, instrument, now = Date.now } = options;
  const { definition } = accounts;
  const toolbox = createToolbox({
    config,
    home,
    labels,
    agents,
    skills,
    fetch: web.fetch,
    tracer,
    hooks,
    audit,
    memories: () => (config().memory.enabled ? memories : undefined),
    now,
    more: createMoreTools(plugins, mcp),
    cron: createCron(scheduledWakes, now),
    sessions: createSessions(subAgents, store),
    speaking: { store, lease, definition, account, delivery, mediaOut: media.out, live, redact, logger, now },
  });
  return instrument?.toolbox(toolbox) ?? toolbox;
}
