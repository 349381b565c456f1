import { realpathSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import { retry } from "@signalbox/lanes";
import { parseSessionKey } from "@signalbox/routing";
import { isLiveTopic } from "@signalbox/server";
import { expireApprovals } from "@signalbox/tools";
import type { GatewayContext } from "../context.ts";
import { executeControl } from "../pipeline/control.ts";
import { recover } from "../pipeline/pipeline.ts";
import { createOwnWorkspaces } from "./own-workspaces.ts";

/** Work with other gateways that share the store. */
export interface Neighbors {
  /** Takes agents and starts to look for their work. */
  start(): Promise<void>;
  /** Resolves when no look is in progress. */
  stop(): Promise<void>;
}

/** Interval at which the store is searched for agents that no node runs, in milliseconds. */
const AGENTS_MS = 500;
/** Interval at which the store is searched for work that no hint reported, in milliseconds. */
const WORK_MS = 1_000;

/**
 * Moves agents between gateways, and takes the messages and requests of agents that run here.
 *
 * @param onLost called if another gateway runs an agent that this one did not give up
 */
export function createNeighbors(ctx: GatewayContext, onLost: (error: Error) => void): Neighbors {
  const { sharedSeats, heldLeases, store, logger } = ctx;
  if (sharedSeats === undefined) return { start: async () => {}, stop: async () => {} };
  const workspaces = createOwnWorkspaces(ctx);
  let timers: readonly NodeJS.Timeout[] = [];
  let stopListening = (): void => {};

  async function moveAgents(): Promise<void> {
    if (sharedSeats === undefined) return;
    const { taken, left } = await sharedSeats.balance({
      isAble: workspaces.areUsable,
      async prepare(seats) {
        await workspaces.mark(seats);
        await takeOver(ctx, seats);
      },
      isIdle: (seat) => isIdle(ctx, seat),
      onLost,
    });
    if (taken.length > 0) logger.info({ agents: taken }, "agents run on this node now");
    if (left.length > 0) logger.info({ agents: left }, "agents were given up for another node");
    if (taken.length + left.length === 0) return;
    // Messages that wait do not wait for the triggers.
    work.request();
    await reloadTriggers(ctx);
  }

  async function takeWork(): Promise<void> {
    // A client that waits for a message at another node sees its run from the beginning.
    await ctx.liveRelay?.look();
    if (heldLeases.isRecovering()) return;
    await workspaces.restore();
    await recover(ctx);
    await executeControl(ctx);
  }

  const onFailure = (error: unknown): void =>
    logger.warn({ err: reasonOf(error) }, "could not look for work of other gateways");
  // Agents of a dead node are taken even while much work is being taken.
  const agents = createLook(moveAgents, onFailure);
  const work = createLook(takeWork, onFailure);
  return {
    async start() {
      ctx.liveRelay?.start();
      await retry(moveAgents);
      await retry(takeWork);
      timers = [
        setInterval(() => agents.request(), AGENTS_MS).unref(),
        setInterval(() => work.request(), WORK_MS).unref(),
      ];
      stopListening = store.hints.listen((agentId) => {
        if (!isLiveTopic(agentId) && runsHere(ctx, agentId)) work.request();
      });
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      stopListening();
      await Promise.all([agents.stop(), work.stop()]);
    },
  };
}

/** A task that runs on request, one run at a time. */
interface Look {
  /** Runs the task, or once more if it is running. */
  request(): void;
  /** Resolves when no run is in progress. */
  stop(): Promise<void>;
}

function createLook(task: () => Promise<void>, onFailure: (error: unknown) => void): Look {
  let running: Promise<void> | undefined;
  let isRequested = false;
  let isStopped = false;

  async function runAll(): Promise<void> {
    do {
      isRequested = false;
      await task().catch(onFailure);
    } while (isRequested && !isStopped);
    running = undefined;
  }

  return {
    request() {
      if (isStopped) return;
      isRequested = true;
      running ??= runAll();
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

/** Returns true if an agent, or one of its shards, runs here. */
function runsHere({ config, seats }: GatewayContext, agentId: string): boolean {
  const shards = config.current().agents.shards.filter(({ id }) => id === agentId);
  return shards.length === 0 ? seats.isHere(agentId) : shards.some(({ shardId }) => seats.holds(shardId));
}

/** Takes over the state of agents and shards that ran on another node, or in an earlier process. */
async function takeOver(ctx: GatewayContext, taken: readonly string[]): Promise<void> {
  const { config, labels, store, toolbox, seats } = ctx;
  const { agents } = config.current();
  const folders = taken.flatMap((id) => realFolder(agents.getShard(id)?.workspaceDir));
  await labels.takeOver((folder) => folders.includes(folder));
  const expired = await expireApprovals(store.approvals, ({ agentId, sessionKey }) =>
    taken.includes(seats.getSeat(agentId, sessionKey)),
  );
  void toolbox.endQuestions(expired);
}

function realFolder(folder: string | undefined): string[] {
  try {
    return folder === undefined ? [] : [realpathSync(folder)];
  } catch {
    return [];
  }
}

async function reloadTriggers({ scheduled, heartbeats, subAgents }: GatewayContext): Promise<void> {
  await scheduled.reload();
  await heartbeats.configured();
  await subAgents.recover();
}

/** Returns true if no session of an agent or shard has a run, waiting messages or background commands. */
export function isIdle(ctx: GatewayContext, seat: string): boolean {
  const { lanes, toolbox, seats, claiming, claimed, passing } = ctx;
  // Claimed messages that are not queued yet may be for the agent.
  if (claiming.size + claimed.length + passing.size > 0) return false;
  const isOfAgent = (sessionKey: string): boolean => {
    const session = parseSessionKey(sessionKey);
    // A key that cannot be parsed may belong to any agent.
    return session === undefined || seats.getSeat(session.agentId, sessionKey) === seat;
  };
  return (
    !lanes.busyKeys().some(isOfAgent) && !toolbox.commands().some(({ sessionKey }) => isOfAgent(sessionKey))
  );
}
