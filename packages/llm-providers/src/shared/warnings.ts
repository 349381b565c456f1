import type { Warning } from "@signalbox/agent-core";

/**
 * Every warning a turn's `start` may carry, the same word for the same thing in each provider:
 * - `thinking.clamped`: the model does not know the level; the nearest it knows was asked for.
 * - `thinking.dropped`: this request goes without thinking, or the server cannot be told of it.
 * - `temperature.dropped`, `top_p.dropped`, `seed.dropped`, `stop.dropped`, `tool_choice.dropped`: the model or its
 *   server takes none.
 * - `json.dropped`: the model or its server cannot be told to answer in JSON, or not of which schema.
 * - `history.…`: parts of the history were changed for this model (see `Loss`).
 */
export type WarningCode =
  | "thinking.clamped"
  | "thinking.dropped"
  | "temperature.dropped"
  | "top_p.dropped"
  | "seed.dropped"
  | "json.dropped"
  | "stop.dropped"
  | "tool_choice.dropped"
  | `history.${LossKind}`;

/** What a history can lose on its way to another model. */
export type LossKind =
  | "native"
  | "thinking"
  | "media"
  | "call-id"
  | "orphan-call"
  | "orphan-result"
  | "opaque"
  | "refusal"
  | "citation"
  | "partial"
  | "empty";

/** Called with what the caller should know about the request. */
export type Warn = (code: WarningCode, message: string) => void;

/** A warning of this package. */
export interface ModelWarning extends Warning {
  readonly code: WarningCode;
}
