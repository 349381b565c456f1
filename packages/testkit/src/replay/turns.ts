import type { ScenarioTurn } from "./scenario.ts";

/** The turns of a scenario while it is replayed. */
export interface ScenarioTurns {
  /** Returns the turn for a request, or a refusal if no turns remain. */
  answer(request: unknown): ScenarioTurn;
  /** Returns the position of the turn that answered a request, or a position after all turns if none did. */
  placeOf(request: unknown): number;
}

/** Each turn answers once. If several turns match a request, the first one answers. */
export function createScenarioTurns(turns: readonly ScenarioTurn[]): ScenarioTurns {
  const left = new Map(turns.entries());
  const places = new Map<unknown, number>();

  const next = (request: unknown): number | undefined => {
    const asked = textsIn(lastMessage(request)).join("\n");
    const entries = [...left];
    const named = entries.find(([, { answers }]) => answers !== undefined && asked.includes(answers));
    return (named ?? entries.find(([, { answers }]) => answers === undefined))?.[0];
  };

  return {
    answer(request) {
      const place = next(request);
      const turn = place === undefined ? undefined : left.get(place);
      if (place === undefined || turn === undefined)
        return { error: { status: 400, message: "The scenario has no turn left that answers this." } };
      left.delete(place);
      places.set(request, place);
      return turn;
    },
    placeOf: (request) => places.get(request) ?? turns.length,
  };
}

function lastMessage(request: unknown): unknown {
  if (request === null || typeof request !== "object" || !("messages" in request)) return undefined;
  return Array.isArray(request.messages) ? request.messages.at(-1) : undefined;
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}
