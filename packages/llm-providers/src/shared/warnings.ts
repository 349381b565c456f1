/** Codes of the warnings in a turn's `start` event. The README describes them. */
export type WarningCode =
  | "thinking_clamped"
  | "thinking_dropped"
  | "temperature_dropped"
  | "top_p_dropped"
  | "seed_dropped"
  | "json_dropped"
  | "stop_dropped"
  | "tool_choice_dropped"
  | "tool_dropped"
  | "field_dropped"
  | `history_${LossKind}`;

/** The types of content that an adapted history can lose. */
export type LossKind =
  | "native"
  | "thinking"
  | "media"
  | "call_id"
  | "orphan_call"
  | "orphan_result"
  | "opaque"
  | "refusal"
  | "citation"
  | "partial"
  | "empty";

/** Adds a warning to a turn. */
export type Warn = (code: WarningCode, message: string) => void;

/** Content that was lost when a history was adapted to another model. */
export interface Loss {
  readonly kind: LossKind;
  /** The index of the message in the history. */
  readonly message: number;
  readonly detail: string;
}

/** Maximum number of lost media that a warning names. */
const MAX_NAMED = 3;

/** Adds one warning per type of loss. Names the lost media. */
export function warnOfLosses(losses: readonly Loss[], warn: Warn): void {
  for (const [kind, lost] of Map.groupBy(losses, (loss) => loss.kind)) {
    const named = [...new Set(lost.map(({ detail }) => detail))].slice(0, MAX_NAMED).join(", ");
    const which = kind === "media" ? ` (${named}${lost.length > MAX_NAMED ? ", …" : ""})` : "";
    const message = `${lost.length} part(s) of the history were changed for this model: ${kind}${which}`;
    warn(`history_${kind}`, message);
  }
}
