import type { JsonObject, Model, ThinkingLevel } from "@signalbox/agent-core";
import { isRaw, textAt } from "../shared/raw.ts";

/** What a model behind the Responses endpoint does differently, from `model.quirks`. */
export interface ResponsesQuirks {
  /** Whether `temperature` is taken; default: only by models that cannot think. */
  readonly temperature: boolean;
  /** Whether the longest cache lifetime may be asked for; default true. */
  readonly longCache: boolean;
  /** The vendor's word for a thinking level; default `off` is `none`, `max` is `xhigh`, the rest by name. */
  readonly efforts: Readonly<Partial<Record<ThinkingLevel, string>>>;
  /** Whether reasoning summaries are asked for; default true. */
  readonly reasoningSummary: boolean;
}

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

/** Reads a model's quirks; what it does not say has the documented default. */
export function responsesQuirks(model: Model): ResponsesQuirks {
  const quirks = model.quirks ?? {};
  return {
    temperature: typeof quirks.temperature === "boolean" ? quirks.temperature : model.thinking.length === 0,
    longCache: quirks.longCache !== false,
    efforts: { off: "none", max: "xhigh", ...effortWords(quirks) },
    reasoningSummary: quirks.reasoningSummary !== false,
  };
}
