import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

/** The first value is the default. QUIRKS.md describes the quirks. */
const QUIRKS = {
  thinking: ["budget", "adaptive"],
  thinkingOff: [undefined, "disabled", "between_tools"],
  thinkingAlwaysOn: false,
  thinkingDisplay: false,
  unsignedThinking: false,
  startsThinking: [undefined, true, false],
  temperature: true,
  forcedTools: true,
  jsonSchema: true,
  prefill: true,
} as const;

export type AnthropicQuirks = QuirksOf<typeof QUIRKS>;

export function anthropicQuirks({ quirks }: Model): AnthropicQuirks {
  return readQuirks(QUIRKS, quirks);
}
