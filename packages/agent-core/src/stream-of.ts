import type { ModelEvent } from "./model.ts";

/** The stream of a turn whose events are at hand: a canned answer, a replay, a model that is a function. */
export async function* streamOf(events: Iterable<ModelEvent>): AsyncGenerator<ModelEvent, void> {
  yield* events;
}
