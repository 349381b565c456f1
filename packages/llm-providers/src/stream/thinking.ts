import type { Model, ThinkingLevel } from "@signalbox/agent-core";

const ORDER: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

/**
 * The level a model will think at when asked for `wanted`: the same where it knows it, else the nearest lower one, and
 * `off` where there is none. A model whose quirks say `thinkingAlwaysOn` never goes below its lowest level.
 */
export function clampThinking(model: Model, wanted: ThinkingLevel = "off"): ThinkingLevel {
  const known = model.thinking.filter((level) => level !== "off");
  const lowest = known[0];
  if (lowest === undefined) return "off";
  let best: ThinkingLevel = "off";
  for (const level of known) if (ORDER.indexOf(level) <= ORDER.indexOf(wanted)) best = level;
  return best === "off" && model.quirks?.thinkingAlwaysOn === true ? lowest : best;
}
