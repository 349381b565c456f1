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

/** What a history lost on its way to another model. */
export interface Loss {
  readonly kind: LossKind;
  /** Index in the history given. */
  readonly message: number;
  readonly detail: string;
}

/** Details of a kind that a warning names. */
const NAMED = 3;

/** Warns of losses, once of each kind; of media with what it was. */
export function warnOfLosses(losses: readonly Loss[], warn: Warn): void {
  for (const [kind, lost] of Map.groupBy(losses, (loss) => loss.kind)) {
    const named = [...new Set(lost.map(({ detail }) => detail))].slice(0, NAMED).join(", ");
    const which = kind === "media" ? ` (${named}${lost.length > NAMED ? ", …" : ""})` : "";
    const said = `${lost.length} part(s) of the history were changed for this model: ${kind}${which}`;
    warn(`history.${kind}`, said);
  }
}
