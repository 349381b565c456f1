import type { Model, ThinkingLevel } from "@signalbox/agent-core";
import { effortWords } from "../shared/thinking.ts";

/** What a Mistral model does differently, from `model.quirks`. */
export interface MistralQuirks {
  /** How a level is told; `prompt_mode` is the default for Magistral models, which know on and off only. */
  readonly thinkingStyle: "reasoning_effort" | "prompt_mode";
  /** The vendor's word for a level; default `off` is `none`, `max` is `xhigh`, the rest by name. */
  readonly efforts: Readonly<Partial<Record<ThinkingLevel, string>>>;
}

/** Reads a model's quirks; what it does not say has the documented default. */
export function mistralQuirks({ id, quirks = {} }: Model): MistralQuirks {
  const style = quirks.thinkingStyle ?? (id.startsWith("magistral") ? "prompt_mode" : "reasoning_effort");
  return {
    thinkingStyle: style === "prompt_mode" ? "prompt_mode" : "reasoning_effort",
    efforts: { off: "none", max: "xhigh", ...effortWords(quirks) },
  };
}
