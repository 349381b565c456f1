import { reasonOf } from "@signalbox/agent-core";
import { createSupervisor, type Supervisor, systemClock, tryAgain } from "@signalbox/lanes";
import type { McpServers } from "@signalbox/mcp";
import type { Memories } from "@signalbox/memory/agents";
import type { Router } from "@signalbox/routing";
import { isOneOff } from "@signalbox/server";
import { createExchanges, type Exchanges } from "@signalbox/service";
import {
  createGatewayDesk,
  createLiveRouter,
  createLook,
  createMoreTools,
  createSpending,
  createVectorCosts,
  type LiveSetup,
  openMcpServers,
  type Spending,
  withoutSecrets,
} from "@signalbox/setup";
import { createAgentMemories } from "@signalbox/setup/memories";
import {
  type AgentFiles,
  createInquiries,
  expireApprovals,
  type FileLabels,
  type Inquiries,
  openAgentFiles,
} from "@signalbox/tools";
import {
  createCronHandler,
  createDelegation,
  createHeartbeats,
  createOtherSessions,
  createScheduledWakes,
  createSessionsHandler,
  type Delegation,
  type Heartbeats,
  type OtherSessions,
  readChecklist,
  type ScheduledWakes,
} from "@signalbox/wakes";
import type { GatewayOptions } from "../gateway-options.ts";
import { judgeFailure, storeErrorIn } from "../path/failures.ts";
import type { ResolvedConfig } from "../resolve/resolve-config.ts";
import { createToolbox, type Toolbox } from "../tools/toolbox.ts";
import { VERSION } from "../version.ts";
import { DOCUMENTS } from "./documents.ts";
import { createObservers, type Observers } from "./observers.ts";
import type { OpenHome } from "./open-home.ts";
import { createOutward, type Outward } from "./outward.ts";

/** What the stages of a message's way work with. */
export interface Surroundings extends Observers, Outward, Omit<AgentFiles, "workspaces"> {
  /** What agents have asked people. */
  readonly inquiries: Inquiries;
  readonly exchanges: Exchanges;
  readonly router: Router;
  /** What agents remember beyond a conversation; not asked where that is turned off. */
  readonly memories: Memories;
  readonly toolbox: Toolbox;
  readonly spending: Spending;
  readonly mcp: McpServers;
  /** What agents are to do later, by themselves. */
  readonly scheduledWakes: ScheduledWakes;
  readonly heartbeats: Heartbeats;
  /** Work that agents give to sub-agents. */
  readonly subAgents: Delegation;
  /** What agents say to each other from conversation to conversation. */
  readonly otherSessions: OtherSessions;
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

/**
 * Builds everything around the way of a message, from the configuration and the home that is open. Nothing runs yet.
 */
export async function createSurroundings(
  options: GatewayOptions,
  resolved: ResolvedConfig,
  opened: OpenHome,
  configuration: LiveSetup<ResolvedConfig>,
  onFatal: (error: Error) => void,
): Promise<Surroundings> {
  const { store } = opened;
  const { env, home, logger, now = Date.now } = options;
  const subAgents = createDelegation({ store, logger, now });
  const observers = createObservers(options, resolved, opened, subAgents);
  const { workspaces, ...words } = await openAgentFiles(store.kv, home.closed);
  const outward = createOutward(options, resolved, opened, configuration, observers, workspaces);
  const common = { ...observers, ...outward, ...words, inquiries: createInquiries({ kv: store.kv, now }) };
  await tryAgain(() => expireApprovals(store.approvals));
  const memories = createAgentMemories({
    loaded: () => configuration.loaded,
    home,
    env,
    store,
    isLeftOut: isOneOff,
    payForVectors: createVectorCosts(configuration.config, observers.spendingReports),
    logger,
    now,
  });
  const mcp = openMcpServers(options.loaded.config, { version: VERSION, logger, now });
  const reach = () => configuration.config().tools.sessions;
  const otherSessions = createOtherSessions({ store, reach, now });
  const { scheduledWakes, heartbeats } = createTimedWakes(options, resolved, opened, words.labels);
  const toolbox = createTools(options, configuration, opened, {
    ...common,
    memories,
    mcp,
    scheduledWakes,
    subAgents,
    otherSessions,
    // Which asks people by the toolbox, and is there before any tool is called.
    spending: () => spending,
  });
  const { approvals } = toolbox;
  const spending = createSpending(configuration, { ...observers.spendingReports, approvals });
  return {
    ...common,
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
    subAgents,
    otherSessions,
    toolbox,
    spending,
    router: createLiveRouter(configuration, {
      cache: store.routes,
      onCacheError: (error) => logger.warn({ err: reasonOf(error) }, "the route cache failed"),
    }),
    supervisor: createFailureSupervisor(logger, onFatal),
  };
}

/** What has agents woken when something is due. */
function createTimedWakes(
  { logger, now = Date.now, clock = { ...systemClock, now } }: GatewayOptions,
  { agents }: ResolvedConfig,
  { store }: OpenHome,
  labels: FileLabels,
): Pick<Surroundings, "scheduledWakes" | "heartbeats"> {
  return {
    scheduledWakes: createScheduledWakes({ kv: store.kv, clock, logger }),
    heartbeats: createHeartbeats({
      agents,
      store,
      clock,
      logger,
      readChecklist: (agent) => readChecklist(agent, { labels, logger }),
    }),
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
      logger.error({ task, err: reasonOf(error), delayMs }, "work failed; it is tried again"),
    onGiveUp: (task, error) => logger.error({ task, err: reasonOf(error) }, "work failed for good"),
    onFatal: (error) => onFatal(storeErrorIn(error) ?? new Error(reasonOf(error))),
  });
}

type AroundTools = Observers &
  Outward &
  Pick<
    Surroundings,
    "labels" | "inquiries" | "memories" | "mcp" | "scheduledWakes" | "subAgents" | "otherSessions"
  > & {
    readonly spending: () => Spending;
  };

/** What agents can do. */
function createTools(
  options: GatewayOptions,
  { config, resolved: { agents, models, skills, plugins, accounts, web } }: LiveSetup<ResolvedConfig>,
  { store, lease, redact, audit }: OpenHome,
  around: AroundTools,
): Toolbox {
  const { live, tracer, hooks, account, labels, inquiries, media, delivery } = around;
  const { memories, mcp, scheduledWakes, subAgents, otherSessions } = around;
  const { home, env, logger, instrument, now = Date.now } = options;
  const { definition } = accounts;
  const toolbox = createToolbox({
    config,
    home,
    labels,
    agents,
    skills,
    withoutSecrets: withoutSecrets(options.vault),
    readOnlyDirs: () => [...skills.dirs, DOCUMENTS.dir],
    fetch: web.fetch,
    fitPicture: media.fitPicture,
    tracer,
    hooks,
    audit,
    memories: () => (config().memory.enabled ? memories : undefined),
    inquiries,
    execSandbox: options.execSandbox,
    now,
    more: createMoreTools(plugins, mcp),
    cron: createCronHandler(scheduledWakes, now),
    sessions: createSessionsHandler(subAgents, otherSessions, store),
    gateway: createGatewayDesk({
      home,
      env,
      version: VERSION,
      config,
      agents,
      models,
      accounts,
      redact,
      now,
    }),
    look: createLook({ config, models, spending: around.spending, now }),
    speaking: {
      store,
      lease,
      definition,
      account,
      accounts: accounts.list,
      delivery,
      mediaOut: media.out,
      live,
      redact,
      logger,
      now,
    },
  });
  return instrument?.toolbox(toolbox) ?? toolbox;
}
