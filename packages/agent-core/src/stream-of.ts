import type { ModelEvent, ModelIterator, ModelStream } from "./model.ts";
import { keepShapes } from "./shapes.ts";

/** Events that nobody has to wait for. */
class ReadyEvents implements ModelIterator, ModelStream {
  readonly #events: Iterator<ModelEvent>;

  constructor(events: Iterable<ModelEvent>) {
    this.#events = events[Symbol.iterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  nextReady(): ModelEvent | undefined {
    const { done, value } = this.#events.next();
    return done === true ? undefined : value;
  }

  next(): Promise<IteratorResult<ModelEvent, undefined>> {
    return new Promise((resolve) => {
      const { done, value } = this.#events.next();
      resolve(done === true ? { done, value: undefined } : { done: false, value });
    });
  }

  return(): Promise<IteratorResult<ModelEvent, undefined>> {
    return new Promise((resolve) => {
      this.#events.return?.();
      resolve({ done: true, value: undefined });
    });
  }
}

/**
 * The stream of a turn whose events are at hand: a canned answer, a replay, a model that is a function. A generator is
 * run as its events are asked for. Can be read once.
 */
export function streamOf(events: Iterable<ModelEvent>): ModelStream {
  if (!kept) {
    kept = true;
    keepShapes(new ReadyEvents([]));
  }
  return new ReadyEvents(events);
}

let kept = false;
