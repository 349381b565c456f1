import type { ModelEvent } from "@signalbox/agent-core";

/** The events of a generator that can be left at any time: by itself one ends only at its next `yield`. */
export function leavable(
  events: AsyncGenerator<ModelEvent, undefined>,
  leave: () => void,
): AsyncIterableIterator<ModelEvent, undefined> {
  const stream = {
    [Symbol.asyncIterator]: () => stream,
    next: () => events.next(),
    return() {
      leave();
      return events.return(undefined);
    },
  };
  return stream;
}
