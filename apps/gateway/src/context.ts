import { realpathSync } from "node:fs";
import { type CompactionCache, reasonOf } from "@signalbox/agent-core";
import { type AttachmentCrashes, createAttachmentCrashes } from "@signalbox/attachments";
import type { MessageEvent } from "@signalbox/channel";
import {
  createLanes,
  createQueueModes,
  createSupervisor,
  type Lanes,
  type LanesOptions,
  type Lifecycle,
  type QueueModes,
  type RunHandle,
  retry,
  type Supervisor,
} from "@signalbox/lanes";
import type { McpServers } from "@signalbox/mcp";
import {
  createRunMemory,
  createSessionAccess,
  type Memories,
  type RunMemory,
  type SessionAccess,
} from "@signalbox/memory/agents";
import { type BuiltPrompt, createPrefixWatch, type PrefixWatch } from "@signalbox/prompt";
import {
  type Admission,
  type BotLoops,
  createAdmission,
  createBotLoops,
  type Router,
} from "@signalbox/routing";
import {
  createCompactionCache,
  createHistories,
  createWaitingRuns,
  type Histories,
  type WaitingRuns,
} from "@signalbox/runs";
import { MCP_CALLBACK_PATH } from "@signalbox/server";
import { getStoreError, type InboxId, timeOf } from "@signalbox/store";
import {
  type AgentFiles,
  type Approval,
  createUserQuestions,
  expireApprovals,
  openAgentFiles,
  type UserQuestions,
} from "@signalbox/tools";
import { createAgentBrowsers } from "./agent/browser/agent-browsers.ts";
import type { Browsers } from "./agent/browser/browsers.ts";
import { createToolbox } from "./agent/create-toolbox.ts";
import { createGenerateImage } from "./agent/generate-image.ts";
import { createReadLinks, type ReadLinks } from "./agent/links.ts";
import { createMcpCredentials } from "./agent/mcp-credentials.ts";
import { openMcpServers } from "./agent/mcp-servers.ts";
import { createAgentMemories, createRunFlush, type Flush } from "./agent/memories.ts";
import { keepRecentPrompts, type RecentPrompts } from "./agent/recent-prompts.ts";
import { createSpending, type Spending } from "./agent/spending.ts";
import type { SpendingReports } from "./agent/spending-reports.ts";
import { createSystemPrompt, type PromptedTurn } from "./agent/system-prompt.ts";
import { createTimeZones } from "./agent/time-zones.ts";
import type { Toolbox } from "./agent/toolbox.ts";
import type { Applied } from "./configure/live-config.ts";
import { createLiveRouter } from "./configure/live-router.ts";
import type { ResolvedConfig } from "./configure/resolve-config.ts";
import { type CoreContext, createCoreContext } from "./core-context.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { createUpdateCheck, type UpdateCheck } from "./maintenance/update-check.ts";
import { type CrashBlame, createCrashBlame } from "./messages/crash-blame.ts";
import { createExchanges, type Exchanges } from "./messages/exchanges.ts";
import { classifyFailure, POISON_ATTEMPTS } from "./messages/failures.ts";
import { InboxAlarm } from "./messages/inbox-alarm.ts";
import { PendingMessages } from "./messages/pending-messages.ts";
import { isOwnersItem, mayShareRun, ownerOf, type Queued } from "./messages/queued-message.ts";
import { explainClosed } from "./messages/reply-windows.ts";
import { createReplies, type Replies } from "./replies.ts";
import { createStoreHealth, type StoreHealth } from "./store-health.ts";
import { readChecklist } from "./triggers/checklist.ts";
import { createDelegation, type Delegation } from "./triggers/delegation.ts";
import { createHeartbeats, type Heartbeats } from "./triggers/heartbeat.ts";
import { createOtherSessions, type OtherSessions } from "./triggers/other-sessions.ts";
import { createScheduledTriggers, type ScheduledTriggers } from "./triggers/scheduled-triggers.ts";
import { VERSION } from "./version.ts";

/** Every long-lived dependency of the gateway. Built once, in order, and passed to every stage. */
export interface GatewayContext extends CoreContext, AgentFiles, Replies {
  // Agents
  readonly memories: Memories;
  readonly memoryAccess: SessionAccess;
  readonly mcp: McpServers;
  readonly browsers: Browsers;
  readonly userQuestions: UserQuestions;
  readonly toolbox: Toolbox;
  readonly spending: Spending;
  /** Recalls what memory holds about a message. */
  readonly recall: RunMemory;
  /** Saves notes before a compaction. */
  readonly flushMemory: Flush;
  readonly readLinks: ReadLinks;
  readonly buildSystemPrompt: (turn: PromptedTurn) => Promise<BuiltPrompt>;
  readonly recentPrompts: RecentPrompts;
  /** Detects changes to the beginning of the prompt, which cause cache misses at vendors. */
  readonly prefixes: PrefixWatch;
  readonly compactionCache: CompactionCache;
  /** Returns the time zone of a message's sender. */
  readonly getTimeZone: (event: MessageEvent) => string;

  // Triggers
  readonly scheduled: ScheduledTriggers;
  readonly heartbeats: Heartbeats;
  readonly subAgents: Delegation;
  readonly otherSessions: OtherSessions;

  // Messages
  readonly router: () => Router;
  readonly admission: () => Admission;
  readonly botLoops: BotLoops;
  readonly exchanges: Exchanges;
  readonly queueModes: QueueModes;
  readonly lanes: Lanes<Queued>;
  readonly supervisor: Supervisor;
  readonly waitingRuns: WaitingRuns;
  readonly histories: Histories;
  /** Counts the crashes of messages with attachments. */
  readonly crashes: AttachmentCrashes;
  /** Decides whether a crash counts against an interrupted run. */
  readonly crashBlame: CrashBlame;
  readonly inboxAlarm: InboxAlarm;
  readonly storeHealth: StoreHealth;
  readonly updates: UpdateCheck;
  readonly pending: PendingMessages;
  /** Messages that a failed recovery claimed from the store and did not queue. */
  readonly claimed: InboxId[];
  /** Recoveries that are claiming messages. */
  readonly claiming: Set<Promise<void>>;
  /**
   * Sessions whose messages this node leaves to the next claim, with the release of those that it had reserved. Cleared
   * by the next recovery. Until then, later messages of the session must not be queued, because they would overtake.
   */
  readonly passing: Map<string, Promise<unknown>>;

  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Approval requests from an earlier process that were not decided. */
  readonly expiredApprovals: readonly Approval[];
}

type Batch = Parameters<LanesOptions<Queued>["run"]>[0];
type Dropped = Parameters<NonNullable<LanesOptions<Queued>["onDropped"]>>;

/** Handlers for the lanes. They need the whole context. */
export interface LaneHandlers {
  processBatch(ctx: GatewayContext, batch: Batch, handle: RunHandle<Queued>): Promise<void>;
  onDropped(ctx: GatewayContext, ...dropped: Dropped): void;
}

/**
 * Builds the context without starting anything.
 *
 * @param onFatal called if the gateway cannot continue
 * @throws GatewayError if another gateway holds the home, or if the home cannot be used
 */
export async function createContext(
  options: GatewayOptions,
  first: Applied<ResolvedConfig>,
  lifecycle: Lifecycle,
  handlers: LaneHandlers & { readonly onFatal: (error: Error) => void },
): Promise<GatewayContext> {
  const core = await createCoreContext(options, first, lifecycle);
  const { store, config, logger, now } = core;
  const reports: SpendingReports = {
    ledger: store.budgets.ledger(core.lease),
    onNotice: (budget, kind) => core.metrics.budgetNews(budget, kind),
    logger,
    now,
  };
  const files = await retry(() =>
    openAgentFiles(store.kv, options.home.closed, (folder) => isOwnFolder(core, folder)),
  );
  const expiredApprovals = await retry(() =>
    expireApprovals(store.approvals, ({ agentId, sessionKey }) => core.seats.isHere(agentId, sessionKey)),
  );
  const replies = createReplies(core, files.workspaces, reports);
  const triggers = createTriggers(core, files);
  const agents = createAgentServices(core, { ...files, ...replies, ...triggers }, reports, (erased) => {
    for (const sessionKey of erased) ctx.histories.forget(sessionKey);
  });
  const ctx: GatewayContext = {
    ...core,
    ...files,
    ...replies,
    ...triggers,
    ...agents,
    router: createLiveRouter(config, {
      cache: store.routes,
      onCacheError: (error) => logger.warn({ err: reasonOf(error) }, "the route cache failed"),
    }),
    admission: config.derived(({ settings }) => createAdmission(settings.access)),
    botLoops: createBotLoops(now),
    exchanges: createExchanges(core),
    queueModes: createQueueModes(store.sessions),
    lanes: openLanes(core, () => ctx, handlers),
    supervisor: createFailureSupervisor(core, handlers.onFatal),
    waitingRuns: createWaitingRuns({
      store,
      lease: core.lease,
      onFailure: (run, error) =>
        logger.warn({ run, err: reasonOf(error) }, "a waiting run could not be recorded"),
    }),
    histories: createHistories(store.sessions),
    crashes: createAttachmentCrashes(store.kv, POISON_ATTEMPTS),
    crashBlame: createCrashBlame({ kv: store.kv, lease: core.lease, noteFile: core.home.crashNoteFile, now }),
    inboxAlarm: new InboxAlarm(logger),
    storeHealth: createStoreHealth(),
    updates: createUpdateCheck({
      version: VERSION,
      isEnabled: () => config.current().settings.gateway.updateNotice && core.maintenanceLease.isHeld(),
      kv: store.kv,
      logger,
      now,
    }),
    pending: new PendingMessages(),
    claimed: [],
    claiming: new Set(),
    passing: new Map(),
    startedAt: now(),
    expiredApprovals,
  };
  return ctx;
}

function realpathIfThere(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Returns false for the workspaces of agents that run on other nodes. */
function isOwnFolder({ config, seats }: CoreContext, folder: string): boolean {
  return config.current().agents.shards.every(({ shardId, workspaceDir }) => {
    return seats.holds(shardId) || realpathIfThere(workspaceDir) !== folder;
  });
}

type Triggers = Pick<GatewayContext, "scheduled" | "heartbeats" | "subAgents" | "otherSessions">;
type AgentServices = Pick<
  GatewayContext,
  | "memories"
  | "memoryAccess"
  | "mcp"
  | "browsers"
  | "userQuestions"
  | "toolbox"
  | "spending"
  | "recall"
  | "flushMemory"
  | "readLinks"
  | "buildSystemPrompt"
  | "recentPrompts"
  | "prefixes"
  | "compactionCache"
  | "getTimeZone"
>;

function createTriggers(core: CoreContext, { labels }: Pick<AgentFiles, "labels">): Triggers {
  const { store, config, clock, logger, now, isOwnChannel, seats } = core;
  return {
    scheduled: createScheduledTriggers({ kv: store.kv, clock, logger, seats }),
    heartbeats: createHeartbeats({
      config,
      store,
      clock,
      logger,
      readChecklist: (agent) => readChecklist(agent, { labels, logger }),
      isOwnChannel,
      seats,
    }),
    subAgents: createDelegation({ store, logger, now, seats }),
    otherSessions: createOtherSessions({
      store,
      async findRefusal(to) {
        const closed = await core.replyWindows.findClosed(to);
        return closed && explainClosed(closed);
      },
      reach: () => config.current().settings.tools.sessions,
      now,
    }),
  };
}

function createAgentServices(
  core: CoreContext,
  built: Replies & Triggers & Pick<AgentFiles, "labels">,
  reports: SpendingReports,
  onErased: (sessionKeys: readonly string[]) => void,
): AgentServices {
  const { options, config, store, logger, now } = core;
  const services = {
    memories: createAgentMemories(core, reports, onErased),
    memoryAccess: createSessionAccess(core.isOwnChannel),
    mcp: openMcpServers(options.loaded.config, {
      version: VERSION,
      logger,
      now,
      kv: store.kv,
      credentials: createMcpCredentials(options),
      redirectUrl: () => core.publicAddress.resolve(MCP_CALLBACK_PATH),
      current: () => config.current().settings,
    }),
    browsers: createAgentBrowsers(core),
    userQuestions: createUserQuestions({ kv: store.kv, now }),
  };
  const { fitPicture, out: outgoing } = built.media;
  const made = createToolbox(
    core,
    { ...built, ...services, fitPicture, outgoing, generateImage: createGenerateImage(core, reports) },
    () => spending,
  );
  const toolbox = options.instrument?.toolbox(made) ?? made;
  const { approvals } = toolbox;
  const spending = createSpending({ ...reports, config, vault: options.vault, approvals });
  const { memories, memoryAccess } = services;
  return {
    ...services,
    toolbox,
    spending,
    recall: createRunMemory({
      memories: () => (config.current().settings.memory.enabled ? memories : undefined),
      access: memoryAccess,
      recallTokens: () => config.current().settings.memory.recallTokens,
      onProblem: (agent, error) => logger.warn({ agent, err: reasonOf(error) }, "memory could not be read"),
    }),
    flushMemory: createRunFlush(core, memories, memoryAccess),
    readLinks: createReadLinks({
      config: () => config.current().settings.links,
      fetch: core.web.fetch,
      logger,
    }),
    ...keepRecentPrompts(createSystemPrompt(core, memoryAccess)),
    prefixes: createPrefixWatch({
      store: store.kv,
      onProblem: (error) => logger.debug({ err: reasonOf(error) }, "the digest of a prompt was not saved"),
      now,
    }),
    compactionCache: createCompactionCache(store.kv),
    getTimeZone: createTimeZones(config),
  };
}

function openLanes(
  { config, metrics, logger, now }: CoreContext,
  ctx: () => GatewayContext,
  { processBatch, onDropped }: LaneHandlers,
): Lanes<Queued> {
  return createLanes<Queued>({
    maxRuns: () => config.current().settings.gateway.maxRuns,
    getKey: ({ sessionKey }) => sessionKey,
    getQueueSettings(sessionKey) {
      const mode = ctx().queueModes.get(sessionKey);
      const { queue } = config.current().settings.session;
      return mode === undefined ? queue : { ...queue, mode };
    },
    getOwner: ownerOf,
    isPrivileged: isOwnersItem,
    mayShareRun,
    run(batch, handle) {
      for (const { id } of batch.items) metrics.queued(now() - timeOf(id));
      return processBatch(ctx(), batch, handle);
    },
    onError: (error) => logger.error({ err: reasonOf(error) }, "a run failed inside the gateway"),
    onDropped: (...dropped) => onDropped(ctx(), ...dropped),
  });
}

/** Retries work that a temporary failure interrupted. */
function createFailureSupervisor({ logger }: CoreContext, onFatal: (error: Error) => void): Supervisor {
  return createSupervisor({
    retryPolicy: classifyFailure,
    onRetry: (task, error, delayMs) =>
      logger.error({ task, err: reasonOf(error), delayMs }, "work failed and will be retried"),
    onGiveUp: (task, error) => logger.error({ task, err: reasonOf(error) }, "work failed for good"),
    onFatal: (error) => onFatal(getStoreError(error) ?? new Error(reasonOf(error))),
  });
}
