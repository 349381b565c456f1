import { startTimer } from "./race.ts";

/** Why a run that took longer than it may has to stop. */
export class OutOfTime extends Error {}

/** Ends a run: by the host's signal, by `abort`, or by the limit on its time. */
export class RunStop extends AbortController {
  readonly #outer: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal | undefined, wallMs: number | undefined) {
    super();
    this.#outer = outer;
    outer?.addEventListener("abort", this.#onOuter);
    if (outer?.aborted === true) this.#onOuter();
    if (wallMs === undefined) return;
    this.#timer = startTimer(
      () => this.abort(new OutOfTime(`The run took longer than ${wallMs} ms.`)),
      wallMs,
    );
  }

  /** The run is over: nothing of it is left at the host's signal. */
  dispose(): void {
    this.#outer?.removeEventListener("abort", this.#onOuter);
    clearTimeout(this.#timer);
  }

  readonly #onOuter = (): void => this.abort(this.#outer?.reason);
}
