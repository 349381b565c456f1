import { expect, it } from "vitest";
import { getShardIndex, parseShardId, splitAgent } from "./shards.ts";

const KEYS = Array.from({ length: 4_000 }, (_, n) => `agent:coder:feishu:main:group:oc_${n}`);

it("spreads sessions evenly, and always to the same shard", () => {
  const counts = [0, 0, 0, 0];
  for (const key of KEYS) {
    const index = getShardIndex(key, 4);
    expect(getShardIndex(key, 4)).toBe(index);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(800);
  expect(getShardIndex("any", 1)).toBe(0);
});

it("moves sessions only to the shard that was added", () => {
  const moved = KEYS.filter((key) => getShardIndex(key, 4) !== getShardIndex(key, 5));
  expect(new Set(moved.map((key) => getShardIndex(key, 5)))).toEqual(new Set([4]));
  expect(moved.length).toBeLessThan(KEYS.length / 4);
});

it("gives each shard a workspace and an id", () => {
  const agent = { id: "coder", shards: 2, shardId: "coder", workspaceDir: "/w" };
  const shards = splitAgent(agent);
  expect(shards.map(({ shardId, workspaceDir }) => [shardId, workspaceDir])).toEqual([
    ["coder#1", "/w/shard-1"],
    ["coder#2", "/w/shard-2"],
  ]);
  expect(shards.map(({ shardId }) => parseShardId(shardId))).toEqual([
    { agentId: "coder", index: 0 },
    { agentId: "coder", index: 1 },
  ]);
  expect(splitAgent({ ...agent, shards: 1 })).toEqual([{ ...agent, shards: 1 }]);
  expect(parseShardId("coder")).toEqual({ agentId: "coder", index: undefined });
});
