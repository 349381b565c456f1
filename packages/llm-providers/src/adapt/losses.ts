import type { LossKind, ModelWarning } from "../shared/warnings.ts";

/** What a history lost on its way to another model. */
export interface Loss {
  readonly kind: LossKind;
  /** Index in the history given. */
  readonly message: number;
  readonly detail: string;
}

/** Details of a kind that a warning names. */
const NAMED = 3;

/** The losses as warnings of a turn, one for each kind; those of media say which. */
export function lossWarnings(losses: readonly Loss[]): ModelWarning[] {
  if (losses.length === 0) return [];
  const kinds = new Map<LossKind, string[]>();
  for (const { kind, detail } of losses) {
    const details = kinds.get(kind) ?? [];
    details.push(detail);
    kinds.set(kind, details);
  }
  return [...kinds].map(([kind, details]) => {
    const named = [...new Set(details)].slice(0, NAMED).join(", ");
    const which = kind === "media" ? ` (${named}${details.length > NAMED ? ", …" : ""})` : "";
    return {
      code: `history.${kind}`,
      message: `${details.length} part(s) of the history were changed for this model: ${kind}${which}`,
    };
  });
}
