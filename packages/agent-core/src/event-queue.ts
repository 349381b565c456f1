import type { AgentEvent } from "./events.ts";

/** Events an iterator may be behind before the run waits for it. */
const HIGH_WATER = 256;
/** Events a viewer may be behind before it is told that it missed some. */
const VIEW_CAPACITY = 1_024;

interface Reader {
  readonly resolve: (result: IteratorResult<AgentEvent>) => void;
  readonly reject: (error: unknown) => void;
}

/** Events that have been read are forgotten this many at a time. */
const FORGET = 256;

abstract class Queue implements AsyncIterableIterator<AgentEvent> {
  #events: AgentEvent[] = [];
  #at = 0;
  /** Those who asked for an event before there was one, in their order. */
  readonly #readers: Reader[] = [];
  #closed = false;
  #error: { readonly error: unknown } | undefined;
  readonly #onReturn: () => void;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** No more events; what is queued is still read, then `error` is thrown if there is one. */
  close(error?: { readonly error: unknown }): void {
    this.#closed = true;
    const readers = this.#readers.splice(0);
    const first = readers[0];
    if (first === undefined) this.#error = error;
    for (const reader of readers) {
      if (reader === first && error !== undefined) reader.reject(error.error);
      else reader.resolve({ value: undefined, done: true });
    }
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const event = this.#events[this.#at];
    if (event !== undefined) {
      this.#at++;
      if (this.#at === this.#events.length || this.#at >= FORGET) this.replaceUnread(this.unread());
      this.onRead();
      return Promise.resolve({ value: event, done: false });
    }
    const failed = this.#error;
    if (failed !== undefined) {
      this.#error = undefined;
      return Promise.reject(failed.error);
    }
    if (this.#closed) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    this.close();
    this.replaceUnread([]);
    this.#onReturn();
    this.onRead();
    return Promise.resolve({ value: undefined, done: true });
  }

  /** Events that nobody has read yet. */
  protected get size(): number {
    return this.#events.length - this.#at;
  }

  protected get closed(): boolean {
    return this.#closed;
  }

  /** Gives an event to whoever waits for one, or queues it. */
  protected offer(event: AgentEvent): void {
    const reader = this.#readers.shift();
    if (reader === undefined) this.#events.push(event);
    else reader.resolve({ value: event, done: false });
  }

  protected unread(): AgentEvent[] {
    return this.#events.slice(this.#at);
  }

  protected replaceUnread(events: AgentEvent[]): void {
    this.#events = events;
    this.#at = 0;
  }

  protected onRead(): void {}
}

/** Every event, in order; a run that is ahead waits. */
export class RunQueue extends Queue {
  #drained: (() => void) | undefined;
  #drain: Promise<void> | undefined;

  push(event: AgentEvent): void | Promise<void> {
    if (this.closed) return undefined;
    // A tool does not wait when it reports progress, so where there is no room only its latest word counts.
    if (event.type === "tool.update" && this.size >= HIGH_WATER) return this.#replaceUpdate(event);
    this.offer(event);
    if (this.size < HIGH_WATER) return undefined;
    this.#drain ??= new Promise((resolve) => {
      this.#drained = resolve;
    });
    return this.#drain;
  }

  protected override onRead(): void {
    if (this.#drained === undefined || this.size > HIGH_WATER / 2) return;
    this.#drained();
    this.#drained = undefined;
    this.#drain = undefined;
  }

  #replaceUpdate(event: Extract<AgentEvent, { type: "tool.update" }>): undefined {
    const unread = this.unread();
    const at = unread.findLastIndex((other) => other.type === "tool.update" && other.callId === event.callId);
    if (at < 0) return undefined;
    unread[at] = event;
    this.replaceUnread(unread);
    return undefined;
  }
}

const TURN = Promise.resolve();

/** For a viewer that must never hold up the run: what it is too slow for is joined, then left out. */
export class ViewQueue extends Queue {
  readonly #capacity: number;

  constructor(onReturn: () => void, capacity: number = VIEW_CAPACITY) {
    super(onReturn);
    this.#capacity = Math.max(8, capacity);
  }

  /** Where half of the room is taken the viewer gets a turn to read, if it wants one: events may come in a row. */
  push(event: AgentEvent): void | Promise<void> {
    if (this.closed) return undefined;
    this.offer(event);
    if (this.size >= this.#capacity) this.#shrink();
    return this.size > this.#capacity / 2 ? TURN : undefined;
  }

  #shrink(): void {
    const joined = joinEvents(this.unread());
    if (joined.length <= this.#capacity / 2) {
      this.replaceUnread(joined);
      return;
    }
    // How the last run ended is told however slow the viewer is: nothing may come after it.
    const end = joined.findLast((other) => other.type === "run.end");
    const missed = joined
      .filter((other) => other !== end)
      .reduce((sum, other) => sum + (other.type === "lagged" ? other.missed : 1), 0);
    this.replaceUnread([{ type: "lagged", missed }, ...(end === undefined ? [] : [end])]);
  }
}

type Delta = Extract<AgentEvent, { readonly delta: string }>;

function isDelta(event: AgentEvent): event is Delta {
  return event.type === "text.delta" || event.type === "thinking.delta" || event.type === "tool.delta";
}

/** The same story in fewer events: neighbouring deltas of one block are joined, progress gives way to later progress. */
function joinEvents(events: readonly AgentEvent[]): AgentEvent[] {
  const joined: AgentEvent[] = [];
  const updates = new Map<string, number>();
  for (const event of events) {
    const last = joined.at(-1);
    if (
      isDelta(event) &&
      last !== undefined &&
      isDelta(last) &&
      last.type === event.type &&
      last.index === event.index
    ) {
      joined[joined.length - 1] = { type: event.type, index: event.index, delta: last.delta + event.delta };
      continue;
    }
    if (event.type === "tool.update") {
      const at = updates.get(event.callId);
      if (at !== undefined) {
        joined[at] = event;
        continue;
      }
      updates.set(event.callId, joined.length);
    }
    joined.push(event);
  }
  return joined;
}
