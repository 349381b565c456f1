import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import type { TokenCounts } from "../cost.ts";
import { countAt, objectAt, objectsAt } from "../shared/json.ts";

/** Reads the usage of a chunk. Servers send it next to the choices, in the first choice, or under `x_groq`. */
export function readUsage(chunk: JsonObject): TokenCounts | undefined {
  const usage = [chunk.usage, objectsAt(chunk, "choices")[0]?.usage, objectAt(chunk, "x_groq").usage].find(
    isJsonObject,
  );
  if (usage === undefined) return undefined;
  const details = objectAt(usage, "prompt_tokens_details");
  const input = countAt(usage, "prompt_tokens") ?? countAt(usage, "input_tokens");
  const completion = countAt(usage, "completion_tokens") ?? countAt(usage, "output_tokens");
  // A prompt is never empty, so a server that reports zero tokens does not count them.
  if ((input ?? 0) === 0 && (completion ?? 0) === 0) return undefined;
  const reasoning =
    countAt(objectAt(usage, "completion_tokens_details"), "reasoning_tokens") ??
    countAt(usage, "reasoning_tokens");
  const cacheRead =
    countAt(details, "cached_tokens") ??
    countAt(usage, "prompt_cache_hit_tokens") ??
    countAt(usage, "cached_tokens") ??
    countAt(usage, "num_cached_tokens");
  const outside = (countAt(usage, "total_tokens") ?? 0) - (input ?? 0) - (completion ?? 0);
  // xAI and Gemini do not include reasoning in the completion tokens, and Gemini does not report it. The total includes
  // it.
  const isReasoning = reasoning === undefined ? outside > 0 && outside !== cacheRead : outside === reasoning;
  return {
    input,
    uncached: countAt(usage, "prompt_cache_miss_tokens"),
    cacheRead,
    cacheWrite: countAt(details, "cache_write_tokens"),
    output: isReasoning ? (completion ?? 0) + outside : completion,
    reasoning: reasoning ?? (isReasoning ? outside : undefined),
  };
}
