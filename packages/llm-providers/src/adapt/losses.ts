import type { LossKind, WarningCode } from "../shared/warnings.ts";

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
export function lossWarnings(losses: readonly Loss[]): { code: WarningCode; message: string }[] {
  return [...Map.groupBy(losses, ({ kind }) => kind)].map(([kind, lost]) => {
    const named = [...new Set(lost.map(({ detail }) => detail))].slice(0, NAMED).join(", ");
    const which = kind === "media" ? ` (${named}${lost.length > NAMED ? ", …" : ""})` : "";
    return {
      code: `history.${kind}`,
      message: `${lost.length} part(s) of the history were changed for this model: ${kind}${which}`,
    };
  });
}
