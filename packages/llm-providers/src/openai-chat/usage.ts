import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import type { TokenCounts } from "../cost.ts";
import { countAt, objectAt, objectsAt } from "../shared/json.ts";

/** Reads the usage of a chunk, which servers put beside the choices, in the first choice, or under `x_groq`. */
export function readUsage(chunk: JsonObject): TokenCounts | undefined {
  const usage = [chunk.usage, objectsAt(chunk, "choices")[0]?.usage, objectAt(chunk, "x_groq").usage].find(
    isJsonObject,
  );
  if (usage === undefined) return undefined;
  const details = objectAt(usage, "prompt_tokens_details");
  const input = countAt(usage, "prompt_tokens");
  const completion = countAt(usage, "completion_tokens");
  if (input === undefined && completion === undefined) return undefined;
  const reasoning = countAt(objectAt(usage, "completion_tokens_details"), "reasoning_tokens");
  const total = countAt(usage, "total_tokens");
  // xAI counts reasoning outside of the completion; its total gives it away.
  const isOutside = reasoning !== undefined && total === (input ?? 0) + (completion ?? 0) + reasoning;
  return {
    input,
    uncached: countAt(usage, "prompt_cache_miss_tokens"),
    cacheRead:
      countAt(details, "cached_tokens") ??
      countAt(usage, "prompt_cache_hit_tokens") ??
      countAt(usage, "cached_tokens") ??
      countAt(usage, "num_cached_tokens"),
    cacheWrite: countAt(details, "cache_write_tokens"),
    output: isOutside ? (completion ?? 0) + reasoning : completion,
    reasoning,
  };
}
