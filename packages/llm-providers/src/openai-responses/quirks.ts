import type { Model, ThinkingLevel } from "@signalbox/agent-core";
import { efforts, flag, type QuirkTable, readQuirks } from "../shared/quirks.ts";

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

const QUIRKS: QuirkTable<ResponsesQuirks> = {
  temperature: flag(true),
  longCache: flag(true),
  efforts: efforts({ off: "none", max: "xhigh" }),
  reasoningSummary: flag(true),
};

/** Reads a model's quirks; what it does not say has the documented default. */
export function responsesQuirks({ quirks, thinking }: Model): ResponsesQuirks {
  return readQuirks(QUIRKS, quirks, { temperature: thinking.length === 0 });
}
