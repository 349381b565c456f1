import { startTimer } from "./race.ts";
import type { End } from "./run-result.ts";

/** Ends a run: by the host's signal, by `abort`, or by the limit on its time. */
export class RunStop extends AbortController {
  readonly #outer: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #isOutOfTime = false;

  constructor(outer: AbortSignal | undefined, wallMs: number | undefined) {
    super();
    this.#outer = outer;
    outer?.addEventListener("abort", this.#onOuter);
    if (outer?.aborted === true) this.#onOuter();
    if (wallMs !== undefined) this.#timer = startTimer(() => this.#onTime(wallMs), wallMs);
  }

  /** How a run ends that has to stop. */
  get end(): End {
    return this.#isOutOfTime ? { reason: "limit", limit: "wallMs" } : { reason: "aborted" };
  }

  /** The run is over: nothing of it is left at the host's signal. */
  dispose(): void {
    this.#outer?.removeEventListener("abort", this.#onOuter);
    clearTimeout(this.#timer);
  }

  readonly #onOuter = (): void => this.abort(this.#outer?.reason);

  #onTime(wallMs: number): void {
    this.#isOutOfTime = !this.signal.aborted;
    this.abort(new Error(`The run took longer than ${wallMs} ms.`));
  }
}
