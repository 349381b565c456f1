import type { ModelEvent, StreamOptions } from "@signalbox/agent-core";
import { classifyException, type Failure, failure } from "../failure/failure.ts";
import type { Timeouts } from "../provider/provider.ts";
import { type RecordSetup, TurnRecord, type TurnWriter } from "./record.ts";

/**
 * Makes the request, reads the answer and tells `turn` what it says, one piece of the wire before each `yield`. What it
 * throws ends the turn as a failure. `turn.signal` is aborted where the wire is to be cut.
 */
export type ReadTurn = (turn: TurnWriter) => AsyncIterable<unknown>;

export interface TurnSetup extends RecordSetup {
  readonly options?: StreamOptions | undefined;
  readonly timeouts?: Timeouts | undefined;
}

/** Time-outs of a turn over another stream, which watches for silence by itself. */
export const UNWATCHED: Timeouts = {
  firstByteMs: Number.POSITIVE_INFINITY,
  idleMs: Number.POSITIVE_INFINITY,
};

/** Milliseconds of silence before a model is given up. One that thinks for long gives a sign every thirty seconds. */
export const SILENCE_MS = 55_000;
/** How long keep-alives alone are taken for a model at work, in milliseconds. */
const QUIET_MS = 10 * 60_000;
/** A timer of more milliseconds than this would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One reason for all: one made at the abort would hold the stack, and so the turn, as long as its signal. */
const OVER = new DOMException("The turn is over.", "AbortError");

/**
 * A turn as the contract's event stream. It sends no request until its first event is pulled, and reads no further than
 * it is pulled. An aborted or silent turn ends at once, whatever `read` is doing.
 */
export function modelTurn(setup: TurnSetup, read: ReadTurn): AsyncIterableIterator<ModelEvent, undefined> {
  return new Turn(setup, read);
}

/** A turn that only says what went wrong. */
export function failedTurn(setup: TurnSetup, cause: Failure): AsyncIterableIterator<ModelEvent, undefined> {
  return modelTurn(setup, async function* (turn) {
    yield turn.fail(cause);
  });
}

/** Whether a stream is `modelTurn`'s, which never throws and ends with one terminal event. */
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
  /** Since when, in milliseconds since the epoch, nothing but keep-alives has come. */
  #quietSince: number | undefined;
  #waiting: Promise<void> | undefined;
  /** Ends the wait for the next piece. */
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
      // Several may ask at once: they wait for the same piece, and are answered in their order.
      while (this.#waiting !== undefined) await this.#waiting;
      const event = this.#record.next();
      if (event !== undefined) return { value: event, done: false };
      if (this.#record.ended) return this.#end();
      this.#waiting = this.#piece(this.#pieces);
    }
  }

  /** The consumer has left. */
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
      if (!this.#record.finished) this.#controller.abort(OVER);
      // Not waited for: whoever leaves is not held up by one that hangs.
      this.#pieces?.return?.().catch(() => {});
    }
    return { value: undefined, done: true };
  }

  /** Waits for the next piece, an abort or too long a silence, whichever comes first. */
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
    this.#quietSince = this.#record.silent ? (this.#quietSince ?? now) : undefined;
    // A server that lives and never answers holds its run no longer than so.
    if (this.#quietSince === undefined || now - this.#quietSince < QUIET_MS) return;
    const said = `The model kept the connection open for ${QUIET_MS / 60_000} min and said nothing.`;
    this.#record.fail(failure("timeout", said));
  }

  readonly #onAbort = (): void => {
    this.#record.fail(failure("aborted", "The request was aborted."));
    this.#wake();
  };

  /** Silence counts only while the wire is being waited for. */
  #watch(ms: number): void {
    if (ms > LONGEST_TIMER_MS) return;
    this.#timer = setTimeout(() => {
      this.#record.fail(failure("timeout", `The model sent nothing for ${ms / 1000} s.`));
      this.#wake();
    }, ms);
  }
}
