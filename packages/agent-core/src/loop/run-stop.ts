import { startTimer } from "./race.ts";

/** Why a run has to stop. */
export type StopCause = "aborted" | "wallMs";

/** The one signal of a run, ended by the host's signal, by `abort` or by the limit on its time. */
export class RunStop {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #cause: StopCause | undefined;

  constructor(outer: AbortSignal | undefined, wallMs: number | undefined) {
    this.#outer = outer;
    outer?.addEventListener("abort", this.#onOuter);
    if (outer?.aborted === true) this.#onOuter();
    if (wallMs === undefined) return;
    const late = new Error(`The run took longer than ${wallMs} ms.`);
    this.#timer = startTimer(() => this.abort(late, "wallMs"), wallMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** `undefined` while the run may go on. */
  get cause(): StopCause | undefined {
    return this.#cause;
  }

  abort(reason: unknown, cause: StopCause = "aborted"): void {
    this.#cause ??= cause;
    this.#controller.abort(reason);
  }

  /** The run is over: nothing of it is left at the host's signal. */
  dispose(): void {
    this.#outer?.removeEventListener("abort", this.#onOuter);
    clearTimeout(this.#timer);
  }

  readonly #onOuter = (): void => this.abort(this.#outer?.reason);
}
