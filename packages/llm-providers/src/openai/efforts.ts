import type { JsonObject, ThinkingLevel } from "@signalbox/agent-core";
import { isRaw, textAt } from "../shared/raw.ts";

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

/** The vendor's words for levels, from a `quirks.efforts` object. */
export function effortWords(quirks: JsonObject): Partial<Record<ThinkingLevel, string>> {
  const words: Partial<Record<ThinkingLevel, string>> = {};
  const given = quirks.efforts;
  if (isRaw(given)) {
    for (const level of LEVELS) {
      const word = textAt(given, level);
      if (word !== undefined) words[level] = word;
    }
  }
  return words;
}
