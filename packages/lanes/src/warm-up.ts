import { type Clock, sleep, systemClock } from "./clock.ts";

/** Something that is loaded when it is first used, or before. */
export interface Loadable {
  readonly name: string;
  load(): Promise<unknown>;
}

export interface WarmUpOptions {
  /** In the order in which the first work would wait for them. */
  readonly parts: readonly Loadable[];
  /** Whether anything is waiting right now. */
  readonly busy: () => boolean;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Told what could not be loaded, as whoever needs it will be. Default: nobody is. */
  readonly onFailure?: (name: string, error: unknown) => void;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** How long a moment has to be idle before something is loaded, in milliseconds. */
const PAUSE_MS = 100;

/**
 * Loads, one after the other and in idle moments, what the first work after a start would have to wait for. Never
 * rejects.
 */
export async function warmUp(options: WarmUpOptions): Promise<void> {
  const { parts, busy, signal, onFailure, clock = systemClock } = options;
  for (const part of parts) {
    do {
      await sleep(clock, PAUSE_MS, signal);
      if (signal.aborted) return;
    } while (busy());
    await part.load().catch((error: unknown) => onFailure?.(part.name, error));
  }
}
