import type { ModelEvent, StreamOptions } from "@signalbox/agent-core";
import { classifyException, type Failure, failure } from "../failure/failure.ts";
import type { Timeouts } from "../provider/provider.ts";
import { type RecordSetup, TurnRecord, type TurnWriter } from "./record.ts";

/**
 * Sends the request, reads the response and writes it to `turn`, one chunk of the response before each `yield`. An
 * exception fails the turn. `turn.signal` aborts as soon as the connection must be closed.
 */
export type ReadTurn = (turn: TurnWriter) => AsyncIterable<unknown>;

export interface TurnSetup extends RecordSetup {
  readonly options?: StreamOptions | undefined;
  readonly timeouts?: Timeouts | undefined;
}

/** For a turn over another stream that has its own timeouts. */
export const NO_TIMEOUTS: Timeouts = {
  firstByteMs: Number.POSITIVE_INFINITY,
  idleMs: Number.POSITIVE_INFINITY,
};

/** Milliseconds of silence until a turn fails. Vendors send a keep-alive at least every 30 seconds. */
export const SILENCE_MS = 55_000;
/** Time limit in milliseconds for a stream that sends only keep-alives. */
const MAX_QUIET_MS = 10 * 60_000;
/** Maximum timer delay of Node.js. A longer timer would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Shared by all turns. An error created on abort would keep its stack, and therefore the turn, in memory. */
const TURN_OVER = new DOMException("The turn is over.", "AbortError");

/**
 * Creates a turn as an event stream with the guarantees of `StreamModel`. No request is sent until the first event is
 * pulled, and the response is read only as fast as events are pulled. An aborted or silent turn ends immediately, even
 * if `read` hangs.
 *
 * @param read reads the response into the turn
 */
export function modelTurn(setup: TurnSetup, read: ReadTurn): AsyncIterableIterator<ModelEvent, undefined> {
  return new Turn(setup, read);
}

/** Creates a turn that fails immediately. */
export function failedTurn(setup: TurnSetup, cause: Failure): AsyncIterableIterator<ModelEvent, undefined> {
  return modelTurn(setup, async function* (turn) {
    yield turn.fail(cause);
  });
}

/** Returns true for a stream created by `modelTurn`, which never throws and has exactly one terminal event. */
export function isTurn(stream: object): boolean {
  return stream instanceof Turn;
}

class Turn implements AsyncIterableIterator<ModelEvent, undefined> {
  readonly #setup: TurnSetup;
  readonly #controller = new AbortController();
  readonly #record: TurnRecord;
  readonly #readTurn: ReadTurn;
  #pieces: AsyncIterator<unknown> | undefined;
  #answering = false;
  #over = false;
  #timer: NodeJS.Timeout | undefined;
  /** Time since which only keep-alives have arrived, in milliseconds since the epoch. */
  #quietSince: number | undefined;
  #waiting: Promise<void> | undefined;
  /** Ends the wait for the next chunk. */
  #wake: () => void = () => {};

  constructor(setup: TurnSetup, read: ReadTurn) {
    this.#setup = setup;
    this.#readTurn = read;
    this.#record = new TurnRecord(setup, this.#controller.signal);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ModelEvent, undefined>> {
    this.#pieces ??= this.#begin();
    for (;;) {
      // Several calls may wait at once. They wait for the same chunk and are resolved in order.
      while (this.#waiting !== undefined) await this.#waiting;
      const event = this.#record.next();
      if (event !== undefined) return { value: event, done: false };
      if (this.#record.ended) return this.#end();
      this.#waiting = this.#piece(this.#pieces);
    }
  }

  /** Called when the consumer stops reading. */
  async return(): Promise<IteratorResult<ModelEvent, undefined>> {
    this.#record.leave();
    this.#wake();
    return this.#end();
  }

  #begin(): AsyncIterator<unknown> {
    const signal = this.#setup.options?.signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (signal?.aborted === true) this.#onAbort();
    return this.#readTurn(this.#record)[Symbol.asyncIterator]();
  }

  #end(): IteratorResult<ModelEvent, undefined> {
    if (!this.#over) {
      this.#over = true;
      clearTimeout(this.#timer);
      this.#setup.options?.signal?.removeEventListener("abort", this.#onAbort);
      if (!this.#record.finished) this.#controller.abort(TURN_OVER);
      // Not awaited, because an iterator may hang.
      this.#pieces?.return?.().catch(() => {});
    }
    return { value: undefined, done: true };
  }

  /** Waits for the next chunk, an abort or a timeout, whichever comes first. */
  #piece(pieces: AsyncIterator<unknown>): Promise<void> {
    const { options, timeouts } = this.#setup;
    const mostMs = this.#answering ? timeouts?.idleMs : timeouts?.firstByteMs;
    this.#answering = true;
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#waiting = undefined;
        resolve();
      };
      this.#watch(mostMs ?? options?.silenceMs ?? SILENCE_MS);
      void this.#read(pieces);
    });
  }

  async #read(pieces: AsyncIterator<unknown>): Promise<void> {
    try {
      const { done } = await pieces.next();
      this.#arrived(done === true);
    } catch (error) {
      this.#record.fail(classifyException(error));
    }
    clearTimeout(this.#timer);
    this.#wake();
  }

  #arrived(last: boolean): void {
    if (last) this.#record.fail(failure("network", "The connection ended before the answer was complete."));
    const { now: clock = Date.now } = this.#setup;
    const now = clock();
    this.#quietSince = this.#record.isDrained ? (this.#quietSince ?? now) : undefined;
    // Limits how long a server can keep a turn open with keep-alives.
    if (this.#quietSince === undefined || now - this.#quietSince < MAX_QUIET_MS) return;
    const message = `The model sent only keep-alives for ${MAX_QUIET_MS / 60_000} min.`;
    this.#record.fail(failure("timeout", message));
  }

  readonly #onAbort = (): void => {
    this.#record.fail(failure("aborted", "The request was aborted."));
    this.#wake();
  };

  /** The timer runs only while a chunk is awaited. */
  #watch(ms: number): void {
    if (ms > MAX_TIMER_MS) return;
    this.#timer = setTimeout(() => {
      this.#record.fail(failure("timeout", `The model sent nothing for ${ms / 1000} s.`));
      this.#wake();
    }, ms);
  }
}
