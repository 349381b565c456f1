import { reasonOf } from "@signalbox/agent-core";
import { createSupervisor, retry, type Supervisor, systemClock } from "@signalbox/lanes";
import { createSessionAccess, type Memories } from "@signalbox/memory/agents";
import type { Router } from "@signalbox/routing";
import { isOneOff } from "@signalbox/server";
import { storeErrorIn } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import {
  type AgentFiles,
  type Approval,
  createUserQuestions,
  expireApprovals,
  type FileLabels,
  openAgentFiles,
} from "@signalbox/tools";
import { openMcpServers } from "../agent/mcp-servers.ts";
import { createAgentMemories } from "../agent/memories.ts";
import type { Spending } from "../agent/spending.ts";
import { createVectorCosts } from "../agent/vector-costs.ts";
import { createExchanges, type Exchanges } from "../api/exchange.ts";
import { createLiveRouter } from "../configure/live-router.ts";
import { judgeFailure } from "../pipeline/failures.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import { readChecklist } from "../triggers/checklist.ts";
import { createDelegation } from "../triggers/delegation.ts";
import { createHeartbeats, type Heartbeats } from "../triggers/heartbeat.ts";
import { createOtherSessions } from "../triggers/other-sessions.ts";
import { createScheduledWakes, type ScheduledWakes } from "../triggers/scheduled-wakes.ts";
import { VERSION } from "../version.ts";
import type { Base } from "./base.ts";
import { createObservers, type Observers } from "./observers.ts";
import { createOutward } from "./outward.ts";
import { type AroundTools, createTools } from "./tools.ts";

/** What the stages of a message's way work with. */
export interface Surroundings extends AroundTools, Omit<AgentFiles, "workspaces"> {
  readonly toolbox: Toolbox;
  /** Approvals that an earlier process asked for, and nobody decided: whatever goes on asks anew. */
  readonly leftQuestions: readonly Approval[];
  readonly spending: Spending;
  readonly exchanges: Exchanges;
  readonly router: Router;
  readonly heartbeats: Heartbeats;
  readonly supervisor: Supervisor;
}

/** What a gateway is made of when the way of a message is put together. */
export interface Parts extends Base {
  readonly surroundings: Surroundings;
}

/** Builds everything around the way of a message, on what the gateway stands on. Nothing runs yet. */
export async function createSurroundings(base: Base, onFatal: (error: Error) => void): Promise<Surroundings> {
  const { options, resolved, opened, configuration, now } = base;
  const { store, redact } = opened;
  const { logger } = options;
  const subAgents = createDelegation({ store, logger, now });
  const observers = createObservers(base, subAgents);
  const { workspaces, ...files } = await openAgentFiles(store.kv, options.home.closed);
  const outward = createOutward(base, observers, workspaces);
  const leftQuestions = await retry(() => expireApprovals(store.approvals));
  const around = {
    ...observers,
    ...outward,
    ...files,
    subAgents,
    userQuestions: createUserQuestions({ kv: store.kv, now }),
    memories: memoriesOf(base, observers),
    memoryAccess: createSessionAccess(resolved.isOwnChannel),
    mcp: openMcpServers(options.loaded.config, { version: VERSION, logger, now }),
    otherSessions: createOtherSessions({ store, reach: () => configuration.config().tools.sessions, now }),
    ...createTimedWakes(base, files.labels),
  };
  return {
    ...around,
    ...createTools(base, around),
    leftQuestions,
    exchanges: createExchanges({ store, definition: resolved.accounts.definition, redact, now }),
    router: createLiveRouter(configuration, {
      cache: store.routes,
      onCacheError: (error) => logger.warn({ err: reasonOf(error) }, "the route cache failed"),
    }),
    supervisor: createFailureSupervisor(logger, onFatal),
  };
}

function memoriesOf(
  { options: { home, env, logger }, opened: { store }, configuration, now }: Base,
  { spendingReports }: Observers,
): Memories {
  return createAgentMemories({
    loaded: () => configuration.loaded,
    home,
    env,
    store,
    isExcluded: isOneOff,
    payForVectors: createVectorCosts(configuration.config, spendingReports),
    logger,
    now,
  });
}

/** What has agents woken when something is due. */
function createTimedWakes(
  { options, resolved: { agents }, opened: { store }, now }: Base,
  labels: FileLabels,
): { readonly scheduledWakes: ScheduledWakes; readonly heartbeats: Heartbeats } {
  const { logger, clock = { ...systemClock, now } } = options;
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
function createFailureSupervisor(logger: Logger, onFatal: (error: Error) => void): Supervisor {
  return createSupervisor({
    retryPolicy: judgeFailure,
    onRetry: (task, error, delayMs) =>
      logger.error({ task, err: reasonOf(error), delayMs }, "work failed and will be retried"),
    onGiveUp: (task, error) => logger.error({ task, err: reasonOf(error) }, "work failed for good"),
    onFatal: (error) => onFatal(storeErrorIn(error) ?? new Error(reasonOf(error))),
  });
}
