import type { Model, ThinkingLevel } from "@signalbox/agent-core";
import { choice, efforts, type QuirkTable, readQuirks } from "../shared/quirks.ts";

/** What a Mistral model does differently, from `model.quirks`. */
export interface MistralQuirks {
  /** How a level is told; `prompt_mode` is the default for Magistral models, which know on and off only. */
  readonly thinkingStyle: "reasoning_effort" | "prompt_mode";
  /** The vendor's word for a level; default `off` is `none`, `max` is `xhigh`, the rest by name. */
  readonly efforts: Readonly<Partial<Record<ThinkingLevel, string>>>;
}

const QUIRKS: QuirkTable<MistralQuirks> = {
  thinkingStyle: choice("reasoning_effort", "prompt_mode"),
  efforts: efforts({ off: "none", max: "xhigh" }),
};

/** Reads a model's quirks; what it does not say has the documented default. */
export function mistralQuirks({ id, quirks }: Model): MistralQuirks {
  return readQuirks(QUIRKS, quirks, id.startsWith("magistral") ? { thinkingStyle: "prompt_mode" } : {});
}
