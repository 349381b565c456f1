import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

const QUIRKS = {
  /** `budget` sends a number of tokens to think with, `adaptive` an effort. */
  thinking: ["budget", "adaptive"],
  /** What is sent as `thinking.type` to turn thinking off. */
  thinkingOff: [undefined, "disabled", "between_tools"],
  /** Never goes below the model's lowest level. */
  thinkingAlwaysOn: false,
  /** Asks for summaries where a model hides its thinking. */
  thinkingDisplay: false,
  /** Whether a temperature, or `top_p`, is taken. */
  temperature: true,
  /** Whether a tool can be forced. */
  forcedTools: true,
  /** Whether it can be told to answer with JSON of a schema. */
  jsonSchema: true,
  /** Whether a request may end with the model's own words. */
  prefill: true,
} as const;

export type AnthropicQuirks = QuirksOf<typeof QUIRKS>;

export function anthropicQuirks({ quirks }: Model): AnthropicQuirks {
  return readQuirks(QUIRKS, quirks);
}
