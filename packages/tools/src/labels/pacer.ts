import { setImmediate } from "node:timers/promises";

/** How long synchronous work runs before it yields, in milliseconds. */
const SLICE_MS = 5;

/** Cuts long work into slices. */
export interface Pacer {
  /** Between two pieces of the work: gives others their turn when a slice is over. */
  pause(): Promise<void> | undefined;
}

export function createPacer(): Pacer {
  let sliceStart = performance.now();
  return {
    pause() {
      if (performance.now() - sliceStart < SLICE_MS) return undefined;
      return setImmediate().then(() => {
        sliceStart = performance.now();
      });
    },
  };
}
