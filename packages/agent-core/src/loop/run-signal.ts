import type { StreamOptions } from "../model.ts";
import { timerMs } from "../timer.ts";

/** Why a run has to stop. */
export type StopCause = "aborted" | "wallMs";

/**
 * The one signal of a run: its own, ended by the host's signal, by `abort` or by the wall-time limit. Waiting for it
 * costs a field or a set entry, not an event listener, so that thousands of calls leave nothing behind.
 */
export class RunSignal {
  /** Why the run has to stop; `undefined` while it may go on. Set by `abort` and the limits alone. */
  cause: StopCause | undefined;
  private reason: unknown;
  private controller: AbortController | undefined;
  /** Nearly always one at a time waits, for which a set would be made, grown and emptied each turn. */
  private first: (() => void) | undefined;
  private others: Set<() => void> | undefined;
  /** Takes the listener at the host's signal back. */
  private leave: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal | undefined, wallMs: number | undefined) {
    if (outer !== undefined) {
      const onAbort = (): void => this.stop("aborted", outer.reason);
      if (outer.aborted) onAbort();
      else outer.addEventListener("abort", onAbort);
      this.leave = () => outer.removeEventListener("abort", onAbort);
    }
    if (wallMs !== undefined) {
      const late = new Error(`The run took longer than ${wallMs} ms.`);
      this.timer = setTimeout(() => this.stop("wallMs", late), timerMs(wallMs));
    }
  }

  /** For whoever knows signals. Made when somebody asks for it, which costs more than all else a run is made of. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.cause !== undefined) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  abort(reason: unknown): void {
    this.stop("aborted", reason);
  }

  /** Calls `listener` when the run has to stop; at once if it already has. Take it back with `off`. */
  on(listener: () => void): void {
    if (this.cause !== undefined) {
      listener();
    } else if (this.first === undefined) {
      this.first = listener;
    } else {
      this.others ??= new Set();
      this.others.add(listener);
    }
  }

  off(listener: () => void): void {
    if (this.first === listener) this.first = undefined;
    else this.others?.delete(listener);
  }

  /**
   * The value of `promise`, or `undefined` `graceMs` after the run has to stop (at once by default), or after
   * `timeoutMs`. What the promise does then is ignored.
   */
  orStopped<T>(promise: Promise<T>, graceMs = 0, timeoutMs?: number): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const forget = (): void => {
        this.off(stopped);
        if (timer !== undefined) clearTimeout(timer);
      };
      const late = (): void => {
        forget();
        resolve(undefined);
      };
      const stopped = (): void => {
        if (graceMs === 0) late();
        else wait(graceMs);
      };
      const wait = (ms: number): void => {
        if (timer !== undefined) clearTimeout(timer);
        timer = setTimeout(late, timerMs(ms));
      };
      if (timeoutMs !== undefined) wait(timeoutMs);
      this.on(stopped);
      promise.then(
        (value) => {
          forget();
          resolve(value);
        },
        (error: unknown) => {
          forget();
          reject(error);
        },
      );
    });
  }

  dispose(): void {
    this.leave?.();
    if (this.timer !== undefined) clearTimeout(this.timer);
    this.first = undefined;
    this.others = undefined;
  }

  private stop(cause: StopCause, reason: unknown): void {
    if (this.cause !== undefined) return;
    this.cause = cause;
    this.reason = reason;
    this.controller?.abort(reason);
    const first = this.first;
    const others = [...(this.others ?? [])];
    this.first = undefined;
    this.others = undefined;
    first?.();
    for (const listener of others) listener();
  }
}

/** Stands where the signal of a run will be, once somebody has asked for it. Made for the first run. */
let later: AbortSignal | undefined;

class SignalWhenAsked implements ProxyHandler<Mutable<StreamOptions>> {
  private readonly stop: RunSignal;

  constructor(stop: RunSignal) {
    this.stop = stop;
  }

  get(options: Mutable<StreamOptions>, key: keyof StreamOptions): unknown {
    if (key === "signal") this.make(options);
    return options[key];
  }

  getOwnPropertyDescriptor(options: Mutable<StreamOptions>, key: string): PropertyDescriptor | undefined {
    if (key === "signal") this.make(options);
    return Reflect.getOwnPropertyDescriptor(options, key);
  }

  private make(options: Mutable<StreamOptions>): void {
    if (options.signal === later) options.signal = this.stop.signal;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The same options with the signal of a run, which is made when it is looked at: an own property like any other, so
 * that copies have it and it can be set. An accessor in its place takes three times as long to make.
 */
export function withSignal(options: StreamOptions | undefined, stop: RunSignal): StreamOptions {
  later ??= new AbortController().signal;
  return new Proxy({ ...options, signal: later }, new SignalWhenAsked(stop));
}
