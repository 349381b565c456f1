import type { Model, Usage } from "@signalbox/agent-core";
import { pricesFor, reportedUsage, type TokenCounts } from "../cost.ts";
import { countAt, isRaw, objectAt, objectsAt, type Raw } from "../shared/json.ts";

/** The usage a chunk carries, wherever its server puts it: beside the choices, in one of them, or under `x_groq`. */
export function chunkUsage(chunk: Raw): TokenCounts | undefined {
  const usage = [chunk.usage, objectsAt(chunk, "choices")[0]?.usage, objectAt(chunk, "x_groq").usage].find(
    isRaw,
  );
  if (usage === undefined) return undefined;
  const details = objectAt(usage, "prompt_tokens_details");
  const input = countAt(usage, "prompt_tokens");
  const output = countAt(usage, "completion_tokens");
  if (input === undefined && output === undefined) return undefined;
  const cacheRead =
    countAt(details, "cached_tokens") ??
    countAt(usage, "prompt_cache_hit_tokens") ??
    countAt(usage, "cached_tokens") ??
    countAt(usage, "num_cached_tokens");
  const cacheWrite = countAt(details, "cache_write_tokens");
  const uncached =
    countAt(usage, "prompt_cache_miss_tokens") ??
    (input === undefined ? undefined : Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)));
  const reasoning = countAt(objectAt(usage, "completion_tokens_details"), "reasoning_tokens");
  return { input, uncached, cacheRead, cacheWrite, output, reasoning };
}

/** Tokens of a text by rule of thumb: four ASCII characters, or one of any other, make one. */
export function roughTokens(text: string): number {
  let wide = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) wide++;
  return Math.ceil((text.length - wide) / 4) + wide;
}

/** Stands in for usage a server did not report. */
export function estimatedUsage(model: Model, input: number, output: number, reasoning: number): Usage {
  const usage = reportedUsage({ input, output, reasoning }, pricesFor(model, input));
  return { ...usage, source: "estimated" };
}
