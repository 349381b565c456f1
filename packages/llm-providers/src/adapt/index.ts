import type { Message, Model, Warning } from "@signalbox/agent-core";

/** What a history lost on its way to another model. */
export interface Loss {
  readonly kind:
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
  /** Index in the history given. */
  readonly message: number;
  readonly detail: string;
}

/** A history as one model can take it. */
export interface Adapted {
  readonly messages: readonly Message[];
  readonly losses: readonly Loss[];
}

/** Rewrites a history for `target`. Pure; a message that needs no change is returned as it is. */
export function adapt(history: readonly Message[], _target: Model): Adapted {
  return { messages: history, losses: [] };
}

/** The losses as warnings of a turn, one for each kind. */
export function lossWarnings(losses: readonly Loss[]): Warning[] {
  const counts = new Map<string, number>();
  for (const loss of losses) counts.set(loss.kind, (counts.get(loss.kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => ({
    code: `history.${kind}`,
    message: `${count} part(s) of the history were changed for this model: ${kind}`,
  }));
}
