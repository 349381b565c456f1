/** Why a run has to stop. */
export type StopCause = "aborted" | "wallMs";

/**
 * The one signal of a run: the host's, or the wall-time limit's. Waiting for it costs a set entry, not an event
 * listener, so that thousands of calls leave nothing behind on the host's signal.
 */
export class RunSignal {
  readonly signal: AbortSignal;
  #cause: StopCause | undefined;
  readonly #waiting = new Set<() => void>();
  readonly #outer: AbortSignal | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal | undefined, wallMs: number | undefined) {
    this.#outer = outer;
    if (outer?.aborted === true) this.#cause = "aborted";
    if (wallMs === undefined) {
      this.signal = outer ?? new AbortController().signal;
      outer?.addEventListener("abort", this.#onOuter);
      return;
    }
    const own = new AbortController();
    this.signal = own.signal;
    if (outer?.aborted === true) own.abort(outer.reason);
    this.#forward = (cause, reason) => {
      own.abort(reason);
      this.#stop(cause);
    };
    outer?.addEventListener("abort", this.#onOuter);
    this.#timer = setTimeout(() => {
      if (this.#cause === undefined)
        this.#forward("wallMs", new Error(`The run took longer than ${wallMs} ms.`));
    }, wallMs);
  }

  /** `undefined` while the run may go on. */
  get cause(): StopCause | undefined {
    return this.#cause;
  }

  /** Calls `listener` when the run has to stop; at once if it already has. Take it back with `off`. */
  on(listener: () => void): void {
    if (this.#cause === undefined) this.#waiting.add(listener);
    else listener();
  }

  off(listener: () => void): void {
    this.#waiting.delete(listener);
  }

  /** The value of `promise`, or `undefined` as soon as the run has to stop. What the promise does then is ignored. */
  orStopped<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const stopped = (): void => resolve(undefined);
      this.on(stopped);
      promise.then(
        (value) => {
          this.off(stopped);
          resolve(value);
        },
        (error: unknown) => {
          this.off(stopped);
          reject(error);
        },
      );
    });
  }

  dispose(): void {
    this.#outer?.removeEventListener("abort", this.#onOuter);
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #forward: (cause: StopCause, reason: unknown) => void = (cause) => this.#stop(cause);

  #onOuter = (): void => {
    if (this.#cause === undefined) this.#forward("aborted", this.#outer?.reason);
  };

  #stop(cause: StopCause): void {
    this.#cause = cause;
    for (const listener of [...this.#waiting]) listener();
    this.#waiting.clear();
  }
}
