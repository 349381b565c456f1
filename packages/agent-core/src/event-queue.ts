import type { AgentEvent } from "./events.ts";

/** Events an iterator may be behind before the run waits for it. */
const HIGH_WATER = 256;

/** Events on their way to whoever iterates over them. */
class Queue implements AsyncIterableIterator<AgentEvent> {
  unread: AgentEvent[] = [];
  closed = false;
  #error: { readonly error: unknown } | undefined;
  #news = Promise.withResolvers<void>();
  /** A generator serves those who ask in their order, and throws once. */
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

  /** No more events; what is queued is still read, then `error` is thrown if there is one. */
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

/** Every event, in order; a run that is ahead waits. */
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

/** For a viewer that must never hold up the run: what it is too slow for is joined, then left out. */
export class ViewQueue extends Queue {
  readonly #capacity: number;

  constructor(onReturn: () => void, capacity: number = 1_024) {
    super(onReturn);
    this.#capacity = Math.max(8, capacity);
  }

  /** Where half of the room is taken the viewer gets a turn to read, if it wants one: events may come in a row. */
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
    // How the last run ended is told however slow the viewer is: nothing may come after it.
    const end = joined.filter((event) => event.type === "run.end").slice(-1);
    const counts = joined.map((event) => (event.type === "lagged" ? event.missed : 1));
    const missed = counts.reduce((sum, count) => sum + count, -end.length);
    this.unread = [{ type: "lagged", missed }, ...end];
  }
}

/** The same story in fewer events: neighbouring deltas of a block are joined, progress gives way to later progress. */
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
