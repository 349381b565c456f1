import type { Model, ThinkingLevel } from "@signalbox/agent-core";
import { effortWords } from "../shared/thinking.ts";

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
