import type { ModelEvent } from "./model.ts";

/** A stream from a list of events: a canned answer, a replay, a model that is a function. */
export async function* streamOf(events: Iterable<ModelEvent>): AsyncGenerator<ModelEvent, void> {
  yield* events;
}
