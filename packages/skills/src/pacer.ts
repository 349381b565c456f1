import { setImmediate } from "node:timers/promises";

/** Splits long synchronous work into slices. Await `pause` between steps, so that other work gets its turn. */
export interface Pacer {
  pause(): Promise<void> | undefined;
}

/** Maximum time for which one pacer blocks the event loop without a break, in milliseconds. */
const SLICE_MS = 5;

export function createPacer(): Pacer {
  let sliceStart = performance.now();
  let nextSlice: Promise<void> | undefined;
  return {
    pause() {
      if (performance.now() - sliceStart < SLICE_MS) return undefined;
      nextSlice ??= setImmediate().then(() => {
        sliceStart = performance.now();
        nextSlice = undefined;
      });
      return nextSlice;
    },
  };
}
