import type { Model } from "@signalbox/agent-core";

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
  /** Whether a temperature is taken. */
  readonly temperature: boolean;
  /** Whether a tool can be forced. */
  readonly forcedTools: boolean;
  /** Whether a request may end with the model's own words. */
  readonly prefill: boolean;
}

const OFF = ["disabled", "between_tools"] as const;

/** Reads a model's quirks; what it does not say has the documented default. */
export function anthropicQuirks({ quirks = {} }: Model): AnthropicQuirks {
  return {
    thinking: quirks.thinking === "adaptive" ? "adaptive" : "budget",
    thinkingOff: OFF.find((type) => type === quirks.thinkingOff),
    thinkingAlwaysOn: quirks.thinkingAlwaysOn === true,
    thinkingDisplay: quirks.thinkingDisplay === true,
    temperature: quirks.temperature !== false,
    forcedTools: quirks.forcedTools !== false,
    prefill: quirks.prefill !== false,
  };
}
