import type { ModelEvent } from "./model.ts";

/** Creates a stream from a list of events, for instance for tests and replays. */
export async function* toStream(events: Iterable<ModelEvent>): AsyncGenerator<ModelEvent, void> {
  yield* events;
}
