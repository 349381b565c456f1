import { reasonOf } from "@signalbox/agent-core";
import type { Agent } from "../configure/agents.ts";
import { createWorkspaceMarkers } from "../configure/workspace-markers.ts";
import type { GatewayContext } from "../context.ts";

/** Interval at which the markers of workspaces are restored, in milliseconds. */
const RESTORE_MS = 60_000;

/**
 * Checks the configured workspaces of agents that move between nodes. Workspaces in the home are not checked, because
 * each node has its own.
 */
export interface OwnWorkspaces {
  /** Returns false if one of the agents or shards has another workspace here. */
  areUsable(shardIds: readonly string[]): Promise<boolean>;
  /** Marks the workspaces of agents or shards that run here from now on. Never rejects because of a folder. */
  mark(shardIds: readonly string[]): Promise<void>;
  /** Restores markers that something has removed since. Does nothing if it did so in the last minute. */
  restore(): Promise<void>;
}

export function createOwnWorkspaces({
  config,
  home,
  store,
  seats,
  logger,
  now,
}: GatewayContext): OwnWorkspaces {
  const markers = createWorkspaceMarkers(store.kv);
  /** The problem of each agent that was logged last. */
  const logged = new Map<string, string>();
  let restoredAt = now();

  function getConfigured(shardIds: readonly string[]): Agent[] {
    const { agents } = config.current();
    return shardIds.flatMap((shardId) => {
      const shard = agents.getShard(shardId);
      if (shard === undefined || agents.get(shard.id)?.workspaceDir === home.workspace(shard.id)) return [];
      return [shard];
    });
  }

  async function mark(shardIds: readonly string[]): Promise<void> {
    for (const shard of getConfigured(shardIds))
      await markers
        .mark(shard)
        .catch((error: unknown) =>
          logger.warn(
            { agent: shard.shardId, err: reasonOf(error) },
            "the id of a workspace could not be written",
          ),
        );
  }

  return {
    mark,
    async areUsable(shardIds) {
      let isUsable = true;
      for (const shard of getConfigured(shardIds)) {
        const { shardId } = shard;
        const problem = await markers.findProblem(shard);
        if (problem === undefined) logged.delete(shardId);
        else if (logged.get(shardId) !== problem) logger.error({ agent: shardId }, problem);
        if (problem === undefined) continue;
        logged.set(shardId, problem);
        isUsable = false;
      }
      return isUsable;
    },
    async restore() {
      if (now() - restoredAt < RESTORE_MS) return;
      restoredAt = now();
      const own = config.current().agents.shards.filter(({ shardId }) => seats.holds(shardId));
      await mark(own.map(({ shardId }) => shardId));
    },
  };
}
