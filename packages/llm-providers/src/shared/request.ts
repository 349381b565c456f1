import type { SystemPrompt } from "@signalbox/agent-core";
import type { Warn } from "./warnings.ts";

/** Stands between tool results and a user message for servers that refuse the two in a row. */
export const AFTER_RESULTS = "I have the tool results.";

/** The system prompt as one text. */
export function systemText({ stable, volatile }: SystemPrompt): string {
  return [stable, volatile].filter(Boolean).join("\n\n");
}

/** The first `most` stop sequences, with a warning where there are more. */
export function atMost(sequences: readonly string[], most: number, warn: Warn): string[] {
  if (sequences.length > most)
    warn("stop.dropped", `${sequences.length - most} stop sequence(s) were left out: the API takes ${most}.`);
  return sequences.slice(0, most);
}
