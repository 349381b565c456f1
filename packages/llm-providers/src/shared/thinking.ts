import type { Model, StreamOptions, ThinkingLevel } from "@signalbox/agent-core";
import { clampThinking } from "../stream/thinking.ts";

/** Called with what the caller should know about the request. */
export type Warn = (code: string, message: string) => void;

/**
 * The level `model` is asked for, clamped to what it knows; `undefined` where it cannot think at all, so that nothing
 * is to be said about it.
 */
export function thinkingLevel(model: Model, options: StreamOptions, warn: Warn): ThinkingLevel | undefined {
  const wanted = options.thinking ?? "off";
  const level = model.thinking.length === 0 ? undefined : clampThinking(model, wanted);
  if ((level ?? "off") !== wanted) {
    warn("thinking.clamped", `Thinking "${wanted}" became "${level ?? "off"}" for ${model.id}.`);
  }
  return level;
}
