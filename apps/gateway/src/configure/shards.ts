import { createHash } from "node:crypto";
import { join } from "node:path";

/** The members of an agent that its shards replace. */
interface Splittable {
  readonly id: string;
  readonly shards: number;
  readonly shardId: string;
  readonly workspaceDir: string;
}

/** Returns the parts of an agent that run independently: its shards, or the agent itself. */
export function splitAgent<T extends Splittable>(agent: T): readonly T[] {
  if (agent.shards === 1) return [agent];
  return Array.from({ length: agent.shards }, (_, index) => ({
    ...agent,
    shardId: `${agent.id}#${index + 1}`,
    workspaceDir: join(agent.workspaceDir, `shard-${index + 1}`),
  }));
}

/** Returns the agent of a `shardId`, and the index of the shard if it is one. */
export function parseShardId(shardId: string): {
  readonly agentId: string;
  readonly index: number | undefined;
} {
  const [agentId = "", number] = shardId.split("#");
  return { agentId, index: number === undefined ? undefined : Number(number) - 1 };
}

/**
 * Chooses the shard of a session by rendezvous hashing. If a shard is added, only the sessions of the new shard move.
 *
 * @returns the index of the shard
 */
export function getShardIndex(sessionKey: string, shards: number): number {
  if (shards === 1) return 0;
  let best = { index: 0, weight: -1 };
  for (let index = 0; index < shards; index += 1) {
    const weight = createHash("sha256").update(`${index} ${sessionKey}`).digest().readUIntBE(0, 6);
    if (weight > best.weight) best = { index, weight };
  }
  return best.index;
}
