import type { Model } from "@signalbox/agent-core";
import { oncePer } from "../shared/once.ts";
import { choice, flag, optional, type QuirkTable, readQuirks } from "../shared/quirks.ts";

/** What a Claude model, or a server that speaks this API, does differently, from `model.quirks`. */
export interface AnthropicQuirks {
  /** `budget` (default) sends a number of tokens to think with, `adaptive` an effort. */
  readonly thinking: "budget" | "adaptive";
  /** What is sent as `thinking.type` to turn thinking off; nothing where absent. */
  readonly thinkingOff: "disabled" | "between_tools" | undefined;
  /** Never goes below the model's lowest level. */
  readonly thinkingAlwaysOn: boolean;
  /** Asks for summaries where a model hides its thinking. */
  readonly thinkingDisplay: boolean;
  /** Whether a temperature, or `top_p`, is taken. */
  readonly temperature: boolean;
  /** Whether a tool can be forced. */
  readonly forcedTools: boolean;
  /** Whether it can be told to answer with JSON of a schema. */
  readonly jsonSchema: boolean;
  /** Whether a request may end with the model's own words. */
  readonly prefill: boolean;
}

const QUIRKS: QuirkTable<AnthropicQuirks> = {
  thinking: choice("budget", "adaptive"),
  thinkingOff: optional("disabled", "between_tools"),
  thinkingAlwaysOn: flag(false),
  thinkingDisplay: flag(false),
  temperature: flag(true),
  forcedTools: flag(true),
  jsonSchema: flag(true),
  prefill: flag(true),
};

/** A model's quirks; what it does not say has the documented default. */
export const anthropicQuirks: (model: Model) => AnthropicQuirks = oncePer(({ quirks }: Model) =>
  readQuirks(QUIRKS, quirks),
);
