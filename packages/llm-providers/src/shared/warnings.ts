/** Every warning a turn's `start` may carry, the same word for the same thing in each provider: see the README. */
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
