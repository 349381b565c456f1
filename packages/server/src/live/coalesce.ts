import type { LiveEvent } from "@signalbox/protocol";
import type { LiveListener } from "./hub.ts";
import { isDelta, type LoggedEvent } from "./session-log.ts";

/** What a viewer's screen takes: what comes faster is joined. */
const EVERY_MS = 150;

/** Passes events on, text that is written and progress of tools in joined pieces. */
export interface Coalescer {
  readonly push: LiveListener;
  /** Passes on what is held back. */
  flush(): void;
  /** Nobody looks any more: what is held back is dropped. */
  end(): void;
}

/**
 * Passes the first piece of a text, or of a tool's progress, on at once and then what has come every 150 ms: pieces of
 * text joined, and of the progress of a call the latest. Whatever else happens is passed on at once, behind all that
 * came before it.
 *
 * @param later for tests: calls back after so many milliseconds, and returns what cancels it
 */
export function createCoalescer(
  pass: LiveListener,
  later: (callback: () => void, ms: number) => () => void = afterMs,
): Coalescer {
  let held: readonly LoggedEvent[] = [];
  let cancel: (() => void) | undefined;

  const flush = (): void => {
    const events = held;
    held = [];
    for (const { event, cursor } of events) pass(event, cursor);
  };
  const tick = (): void => {
    cancel = held.length === 0 ? undefined : later(tick, EVERY_MS);
    flush();
  };
  return {
    push(event, cursor) {
      if (!isDelta(event) && event.type !== "tool.update") {
        flush();
        pass(event, cursor);
      } else if (cancel !== undefined) {
        held = joined(held, { event, cursor });
      } else {
        pass(event, cursor);
        cancel = later(tick, EVERY_MS);
      }
    },
    flush,
    end() {
      cancel?.();
      cancel = undefined;
      held = [];
    },
  };
}

/** Puts an event behind others, as one with those that it goes on or makes void. */
function joined(held: readonly LoggedEvent[], { event, cursor }: LoggedEvent): readonly LoggedEvent[] {
  const last = held.at(-1)?.event;
  if (isDelta(event) && last?.type === event.type && last.runId === event.runId) {
    return held.with(-1, { event: { ...event, delta: last.delta + event.delta }, cursor });
  }
  return [...held.filter((each) => !isOlder(each.event, event)), { event, cursor }];
}

/** Whether both tell of the same call: the later one says all of it. */
function isOlder(event: LiveEvent, later: LiveEvent): boolean {
  return event.type === "tool.update" && later.type === "tool.update" && event.call.id === later.call.id;
}

function afterMs(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
