import type { ModelEvent, ModelIterator, ModelStream } from "./model.ts";
import { keepShapes } from "./shapes.ts";

/** Events that nobody has to wait for. */
class ReadyEvents implements ModelIterator, ModelStream {
  readonly #events: Iterator<ModelEvent>;
  #over = false;

  constructor(events: Iterable<ModelEvent>) {
    this.#events = events[Symbol.iterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  nextReady(): ModelEvent | undefined {
    if (this.#over) return undefined;
    const { done, value } = this.#events.next();
    if (done !== true) return value;
    this.#over = true;
    return undefined;
  }

  next(): Promise<IteratorResult<ModelEvent, undefined>> {
    return new Promise((resolve) => {
      const value = this.nextReady();
      resolve(this.#over || value === undefined ? { done: true, value: undefined } : { done: false, value });
    });
  }

  // An array's iterator has no `return`, and would go on.
  return(): Promise<IteratorResult<ModelEvent, undefined>> {
    return new Promise((resolve) => {
      this.#over = true;
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
