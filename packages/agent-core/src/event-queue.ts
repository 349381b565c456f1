import type { AgentEvent } from "./events.ts";

/** Maximum number of events that an iterator may be behind before the run waits. */
const HIGH_WATER = 256;

/** Events for an iterator. */
class Queue implements AsyncIterableIterator<AgentEvent> {
  unread: AgentEvent[] = [];
  closed = false;
  #error: { readonly error: unknown } | undefined;
  #news = Promise.withResolvers<void>();
  /** A generator handles concurrent calls in order and throws only once. */
  readonly #reading: AsyncGenerator<AgentEvent, undefined> = this.#read();
  readonly #onReturn: () => void;
  readonly #onRead: () => void;

  constructor(onReturn: () => void, onRead: () => void = () => {}) {
    this.#onReturn = onReturn;
    this.#onRead = onRead;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends the queue. Queued events can still be read. After them, the iterator throws `error`, if given. */
  close(error?: { readonly error: unknown }): void {
    this.closed = true;
    this.#error = error;
    this.#news.resolve();
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    return this.#reading.next();
  }

  return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.close();
    this.unread = [];
    this.#onReturn();
    this.#onRead();
    return this.#reading.return(undefined);
  }

  offer(event: AgentEvent): void {
    this.unread.push(event);
    this.#news.resolve();
  }

  async *#read(): AsyncGenerator<AgentEvent, undefined> {
    for (;;) {
      const event = this.unread.shift();
      if (event !== undefined) {
        this.#onRead();
        yield event;
      } else if (this.closed) {
        if (this.#error !== undefined) throw this.#error.error;
        return undefined;
      } else {
        this.#news = Promise.withResolvers();
        await this.#news.promise;
      }
    }
  }
}

/** A queue of all events in order, with backpressure. */
export class RunQueue extends Queue {
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(onReturn: () => void) {
    super(onReturn, () => this.#release());
  }

  push(event: AgentEvent): void | Promise<void> {
    if (this.closed) return undefined;
    this.offer(event);
    if (this.unread.length < HIGH_WATER) return undefined;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  #release(): void {
    if (this.unread.length > HIGH_WATER / 2) return;
    this.#drained?.resolve();
    this.#drained = undefined;
  }
}

const TURN = Promise.resolve();

/** A queue that never delays the run. If the viewer is too slow, events are merged and then dropped. */
export class ViewQueue extends Queue {
  readonly #capacity: number;

  constructor(onReturn: () => void, capacity: number = 1_024) {
    super(onReturn);
    this.#capacity = Math.max(8, capacity);
  }

  /** Yields to the viewer if the queue is half full, because a burst of events would give it no time to read. */
  push(event: AgentEvent): void | Promise<void> {
    if (this.closed) return undefined;
    this.offer(event);
    if (this.unread.length >= this.#capacity) this.#shrink();
    return this.unread.length > this.#capacity / 2 ? TURN : undefined;
  }

  #shrink(): void {
    const joined = joinEvents(this.unread);
    this.unread = joined;
    if (joined.length <= this.#capacity / 2) return;
    // Always deliver the last `run.end`, because the run emits nothing after it.
    const end = joined.filter((event) => event.type === "run.end").slice(-1);
    const counts = joined.map((event) => (event.type === "lagged" ? event.missed : 1));
    const missed = counts.reduce((sum, count) => sum + count, -end.length);
    this.unread = [{ type: "lagged", missed }, ...end];
  }
}

/** Merges neighboring deltas of a block and keeps only the latest progress. */
function joinEvents(events: readonly AgentEvent[]): AgentEvent[] {
  const joined: AgentEvent[] = [];
  const updates = new Map<string, number>();
  for (const event of events) {
    const last = joined.at(-1);
    const isSameBlock = "index" in event && last?.type === event.type && last.index === event.index;
    if (event.type === "tool.update") {
      const at = updates.get(event.callId) ?? joined.length;
      updates.set(event.callId, at);
      joined[at] = event;
    } else if (isSameBlock && "delta" in last && "delta" in event) {
      joined[joined.length - 1] = { ...event, delta: last.delta + event.delta };
    } else {
      joined.push(event);
    }
  }
  return joined;
}
