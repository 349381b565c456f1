import { setImmediate } from "node:timers/promises";

/** Breaks up long work: awaited between its steps, it lets other work go first every few milliseconds. */
export interface Pacer {
  pause(): Promise<void> | undefined;
}

/** Longest time in milliseconds for which all work of one pacer together holds the event loop. */
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
