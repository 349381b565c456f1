import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import type { TokenCounts } from "../cost.ts";
import { countAt, objectAt, objectsAt } from "../shared/json.ts";

/** The usage a chunk carries, wherever its server puts it: beside the choices, in one of them, or under `x_groq`. */
export function chunkUsage(chunk: JsonObject): TokenCounts | undefined {
  const usage = [chunk.usage, objectsAt(chunk, "choices")[0]?.usage, objectAt(chunk, "x_groq").usage].find(
    isJsonObject,
  );
  if (usage === undefined) return undefined;
  const details = objectAt(usage, "prompt_tokens_details");
  const input = countAt(usage, "prompt_tokens");
  const output = countAt(usage, "completion_tokens");
  if (input === undefined && output === undefined) return undefined;
  return {
    input,
    uncached: countAt(usage, "prompt_cache_miss_tokens"),
    cacheRead:
      countAt(details, "cached_tokens") ??
      countAt(usage, "prompt_cache_hit_tokens") ??
      countAt(usage, "cached_tokens") ??
      countAt(usage, "num_cached_tokens"),
    cacheWrite: countAt(details, "cache_write_tokens"),
    output,
    reasoning: countAt(objectAt(usage, "completion_tokens_details"), "reasoning_tokens"),
  };
}
