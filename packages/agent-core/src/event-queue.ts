import type { AgentEvent } from "./events.ts";

/** Events an iterator may be behind before the run waits for it. */
const HIGH_WATER = 256;
/** Events a viewer may be behind before it is told that it missed some. */
const VIEW_CAPACITY = 1_024;

type Reader = Omit<PromiseWithResolvers<IteratorResult<AgentEvent>>, "promise">;

abstract class Queue implements AsyncIterableIterator<AgentEvent> {
  protected unread: AgentEvent[] = [];
  protected closed = false;
  /** Those who asked for an event before there was one, in their order. */
  readonly #readers: Reader[] = [];
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
    this.closed = true;
    this.#error = error;
    for (const { resolve, reject } of this.#readers.splice(0)) this.#end().then(resolve, reject);
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const event = this.unread.shift();
    if (event !== undefined) {
      this.onRead();
      return Promise.resolve({ value: event, done: false });
    }
    if (this.closed) return this.#end();
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    this.close();
    this.unread = [];
    this.#onReturn();
    this.onRead();
    return this.#end();
  }

  /** Gives an event to whoever waits for one, or queues it. */
  protected offer(event: AgentEvent): void {
    const reader = this.#readers.shift();
    if (reader === undefined) this.unread.push(event);
    else reader.resolve({ value: event, done: false });
  }

  protected onRead(): void {}

  /** What follows the last event: the error, told once. */
  async #end(): Promise<IteratorResult<AgentEvent>> {
    const failed = this.#error;
    this.#error = undefined;
    if (failed !== undefined) throw failed.error;
    return { value: undefined, done: true };
  }
}

/** Every event, in order; a run that is ahead waits. */
export class RunQueue extends Queue {
  #drained: PromiseWithResolvers<void> | undefined;

  push(event: AgentEvent): void | Promise<void> {
    if (this.closed) return undefined;
    // A tool does not wait when it reports progress, so where there is no room only its latest word counts.
    if (event.type === "tool.update" && this.unread.length >= HIGH_WATER) return this.#replaceUpdate(event);
    this.offer(event);
    if (this.unread.length < HIGH_WATER) return undefined;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  protected override onRead(): void {
    if (this.unread.length > HIGH_WATER / 2) return;
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  #replaceUpdate(event: Extract<AgentEvent, { type: "tool.update" }>): void {
    const { unread } = this;
    const at = unread.findLastIndex((other) => other.type === "tool.update" && other.callId === event.callId);
    if (at >= 0) unread[at] = event;
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
    if (this.unread.length >= this.#capacity) this.#shrink();
    return this.unread.length > this.#capacity / 2 ? TURN : undefined;
  }

  #shrink(): void {
    const joined = joinEvents(this.unread);
    this.unread = joined;
    if (joined.length <= this.#capacity / 2) return;
    // How the last run ended is told however slow the viewer is: nothing may come after it.
    const end = joined.filter((event) => event.type === "run.end").slice(-1);
    const missed = joined.reduce(
      (sum, event) => sum + (event.type === "lagged" ? event.missed : 1),
      -end.length,
    );
    this.unread = [{ type: "lagged", missed }, ...end];
  }
}

type Delta = Extract<AgentEvent, { readonly delta: string }>;

/**
 * The same story in fewer events: neighbouring deltas of one block are joined, progress gives way to later progress.
 */
function joinEvents(events: readonly AgentEvent[]): AgentEvent[] {
  const joined: AgentEvent[] = [];
  const updates = new Map<string, number>();
  for (const event of events) {
    const last = joined.at(-1);
    const update = event.type === "tool.update" ? updates.get(event.callId) : undefined;
    if (update !== undefined) {
      joined[update] = event;
    } else if (last !== undefined && isDelta(event) && isDelta(last) && isSameBlock(event, last)) {
      joined[joined.length - 1] = { ...event, delta: last.delta + event.delta };
    } else {
      if (event.type === "tool.update") updates.set(event.callId, joined.length);
      joined.push(event);
    }
  }
  return joined;
}

function isDelta(event: AgentEvent): event is Delta {
  return event.type === "text.delta" || event.type === "thinking.delta" || event.type === "tool.delta";
}

function isSameBlock(a: Delta, b: Delta): boolean {
  return a.type === b.type && a.index === b.index;
}
