import type { LiveEvent } from "@signalbox/protocol";

/** What a viewer's screen takes: text that comes faster is joined. */
const EVERY_MS = 150;

type Delta = Extract<LiveEvent, { readonly delta: string }>;

/** Passes events on, text that is written in joined pieces. */
export interface Coalescer {
  push(event: LiveEvent): void;
  /** Nobody looks any more: what is held back is dropped. */
  end(): void;
}

/**
 * Passes the first piece of a text on at once and then one piece every 150 ms at most. Whatever else happens is passed
 * on at once, behind the text that was written before it.
 *
 * @param later for tests: calls back after so many milliseconds, and returns what cancels it
 */
export function createCoalescer(
  pass: (event: LiveEvent) => void,
  later: (callback: () => void, ms: number) => () => void = afterMs,
): Coalescer {
  let held: Delta | undefined;
  let cancel: (() => void) | undefined;

  const flush = (): void => {
    const event = held;
    held = undefined;
    if (event !== undefined) pass(event);
  };
  const tick = (): void => {
    cancel = held === undefined ? undefined : later(tick, EVERY_MS);
    flush();
  };
  return {
    push(event) {
      if (!isDelta(event)) {
        flush();
        return pass(event);
      }
      if (held !== undefined && held.type === event.type && held.runId === event.runId) {
        held = { ...held, delta: held.delta + event.delta };
        return;
      }
      flush();
      if (cancel !== undefined) {
        held = event;
        return;
      }
      pass(event);
      cancel = later(tick, EVERY_MS);
    },
    end() {
      cancel?.();
      cancel = undefined;
      held = undefined;
    },
  };
}

function isDelta(event: LiveEvent): event is Delta {
  return event.type === "text.delta" || event.type === "thinking.delta";
}

function afterMs(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
